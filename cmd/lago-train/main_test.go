package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// envMain makes the test binary the program itself, so that tests see what a shell
// does: stdout, stderr, the exit code and signals.
const envMain = "LAGO_TRAIN_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(envMain) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// command returns the program with arguments, in an empty folder and apart from
// what the environment of the tests says of data sets and clusters.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Dir = t.TempDir()
	c.Env = []string{envMain + "=1", "XDG_CACHE_HOME=" + t.TempDir()}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if name == "LAGO_DATA" || name == "XDG_CACHE_HOME" || strings.HasPrefix(name, "SLURM_") || strings.HasPrefix(name, "JOB_COMPLETION") {
			continue
		}
		c.Env = append(c.Env, v)
	}
	return c
}

// ended is what a program leaves behind.
type ended struct {
	stdout, stderr string
	code           int // -1 where a signal ended it
}

// lagoTrain runs the program to its end.
func lagoTrain(t *testing.T, args ...string) ended {
	t.Helper()
	c := command(t, args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return ended{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}
}

// succeeds runs the program, which must end well, and returns its stdout.
func succeeds(t *testing.T, args ...string) string {
	t.Helper()
	e := lagoTrain(t, args...)
	if e.code != 0 {
		t.Fatalf("lago-train %s ended with %d:\n%s", strings.Join(args, " "), e.code, e.stderr)
	}
	return e.stdout
}

// refuses runs the program, which must end with 1, nothing on stdout, and a message
// with all of the parts on stderr.
func refuses(t *testing.T, args []string, parts ...string) {
	t.Helper()
	e := lagoTrain(t, args...)
	if e.code != 1 || e.stdout != "" {
		t.Errorf("lago-train %s ended with %d and %q on stdout, expected 1 and nothing", strings.Join(args, " "), e.code, e.stdout)
	}
	for _, part := range append(parts, "lago-train: ") {
		if !strings.Contains(e.stderr, part) {
			t.Errorf("lago-train %s: stderr doesn't say %q:\n%s", strings.Join(args, " "), part, e.stderr)
		}
	}
	if strings.Contains(e.stderr, "goroutine") {
		t.Errorf("lago-train %s panics", strings.Join(args, " "))
	}
}

// onMini are arguments that name a data set of 12 classes, on which a run takes
// milliseconds.
func onMini(t *testing.T) []string {
	t.Helper()
	dir, err := filepath.Abs("../../dataset/xlsa17/testdata")
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--data-dir", dir, "--no-cache", "--dataset", "plain"}
}

// object reads one JSON object, and nothing after it.
func object(t *testing.T, text string) map[string]json.RawMessage {
	t.Helper()
	var o map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("expected one JSON object, found %v:\n%s", err, text)
	}
	return o
}

// compareKeys holds an object to its keys.
func compareKeys(t *testing.T, name string, o map[string]json.RawMessage, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(o))); diff != "" {
		t.Errorf("keys of %s (-want +got):\n%s", name, diff)
	}
}

func TestWrongCommandLines(t *testing.T) {
	for _, c := range []struct {
		args  string
		parts []string
	}{
		{"train", []string{`no command is named "train"`, "lago-train --help"}},
		{"--fast", []string{"-fast", "lago-train --help"}},
		{"dataset list", []string{`no command is named "list"`, "lago-train dataset --help"}},
		{"dataset --fast", []string{"-fast", "lago-train dataset --help"}},
		{"dataset info --fast glyphs", []string{"-fast", "lago-train dataset info --help"}},
		{"run --fast", []string{"-fast", "lago-train run --help"}},
		{"run --seeds many", []string{`"many"`, "-seeds", "lago-train run --help"}},
		{"run glyphs", []string{"run", `"glyphs"`}},
		{"run --log-format xml", []string{"--log-format", "text or json", `"xml"`}},
		{"run --log-level loud", []string{"--log-level", `"loud"`}},
	} {
		t.Run(c.args, func(t *testing.T) {
			refuses(t, strings.Fields(c.args), c.parts...)
		})
	}
}

func TestWithoutACommandTheHelpIsPrinted(t *testing.T) {
	for _, args := range [][]string{nil, {"help"}, {"--help"}} {
		if out := succeeds(t, args...); !strings.Contains(out, "lago-train run") || !strings.Contains(out, "dataset") {
			t.Errorf("%q: expected the commands on stdout:\n%s", args, out)
		}
	}
	if out := succeeds(t, "dataset"); !strings.Contains(out, "info") {
		t.Errorf("expected the commands of dataset on stdout:\n%s", out)
	}
}
