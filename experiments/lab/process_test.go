package lab

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/train"
)

// The environment of a process that a test starts.
const (
	envRoot = "LAGO_LAB_TEST_ROOT"
	envHang = "LAGO_LAB_TEST_HANG" // the epoch, of those of all trials, that never ends
)

// hangs is the line that a process prints when it reaches the epoch that never ends.
const hangs = "hangs"

// process runs the grid in root, one trial at a time, and prints a line per epoch.
func process(root string) int {
	hang, _ := strconv.Atoi(os.Getenv(envHang)) // 0 where it is not set: never
	d := tiny.Small()
	l := New(d, root)
	l.Jobs = 1
	l.Options.CheckpointEvery = time.Nanosecond // each epoch
	epochs := 0
	l.Options.OnEpoch = func(t train.Trial, e train.Epoch) {
		fmt.Println(stamp(t, e))
		if epochs++; epochs == hang {
			fmt.Println(hangs)
			time.Sleep(time.Hour)
		}
	}
	done, err := l.Do(context.Background(), tasks(someTrials(d)))
	for _, t := range done {
		if err == nil && t.Missing != nil {
			err = t.Missing
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// child is a process that carries out the grid below a root.
type child struct {
	cmd  *exec.Cmd
	says *bufio.Scanner
}

// startProcess starts one. It is killed at the end of the test if it still runs.
func startProcess(t *testing.T, root string, hang int) child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRoot+"="+root, envHang+"="+strconv.Itoa(hang))
	cmd.Stderr = os.Stderr
	out := testkit.Must(cmd.StdoutPipe())(t)
	testkit.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return child{cmd, bufio.NewScanner(out)}
}

// epochs reads the epochs that the process says until it hangs or ends.
func (c child) epochs() (list []string) {
	for c.says.Scan() && c.says.Text() != hangs {
		list = append(list, c.says.Text())
	}
	return list
}

// rest is all epochs that the process says, which must end without an error.
func (c child) rest(t *testing.T) []string {
	t.Helper()
	epochs := c.epochs()
	testkit.NoError(t, c.cmd.Wait())
	return epochs
}

// TestMain is also the main of the processes that tests start: see process.
func TestMain(m *testing.M) {
	if _, err := blas.Use(""); err != nil {
		panic(err)
	}
	if root := os.Getenv(envRoot); root != "" {
		os.Exit(process(root))
	}
	m.Run()
}
