package descriptions

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

// states are what a page saves one after the other, by order: an attribute is added, described and
// taken back, also the first one.
func states(d *Table) (list []*Table, order []int) {
	for _, change := range []func(*Table){
		func(d *Table) { d.AddClass("owl") },
		func(d *Table) { d.AddAttribute(Attribute{Name: "flies"}) },
		func(d *Table) { d.Set(0, 0, "yes") },
		func(d *Table) { d.AddAttribute(Attribute{Name: "swims"}) },
	} {
		d = d.Clone()
		change(d)
		list = append(list, d)
	}
	return list, []int{0, 1, 0, 1, 2, 3, 2, 3, 2, 1}
}

func complete(t *testing.T, dir string) *Table {
	var problems invalid.List
	d := ReadFolder(t.Context(), dir, true, &problems)
	testkit.NoError(t, problems.Err())
	return d
}

// A kill while descriptions are saved leaves those that were saved last or the next, which can be
// read. LAGO_KILLS is their number.
func TestKilledWhileSaving(t *testing.T) {
	const folder = "LAGO_TEST_FOLDER" // of the child
	if dir := os.Getenv(folder); dir != "" {
		list, order := states(complete(t, dir))
		for i := 0; ; i++ {
			testkit.NoError(t, list[order[i%len(order)]].Save())
			fmt.Println("saved", i)
		}
	}
	kills, err := strconv.Atoi(os.Getenv("LAGO_KILLS"))
	if err != nil {
		kills = 8
	}
	for kill := range kills {
		dir := t.TempDir()
		c := exec.Command(os.Args[0], "-test.run=^TestKilledWhileSaving$")
		c.Env = append(os.Environ(), folder+"="+dir)
		out := testkit.Must(c.StdoutPipe())(t)
		testkit.NoError(t, c.Start())
		r, last := bufio.NewReader(out), -1
		for last < kill%10 { // at each of the changes
			testkit.Must(fmt.Fscanf(r, "saved %d\n", &last))(t)
		}
		time.Sleep(time.Duration(kill*37%23) * 100 * time.Microsecond)
		testkit.NoError(t, c.Process.Kill())
		for { // saved before the kill
			if _, err := fmt.Fscanf(r, "saved %d\n", &last); err != nil {
				break
			}
		}
		_ = c.Wait() // killed
		got, fresh := complete(t, dir), complete(t, t.TempDir())
		list, order := states(fresh)
		saved, next := list[order[last%len(order)]], list[order[(last+1)%len(order)]]
		text := func(d *Table) string { return fmt.Sprintf("%q %q %q", d.Attributes, d.Classes, d.Cells) }
		if text(got) != text(saved) && text(got) != text(next) {
			t.Errorf("after change %d: found %s, expected %s or %s", last, text(got), text(saved), text(next))
		}
		if len(got.Attributes) > 0 {
			var problems invalid.List
			ReadFolder(t.Context(), dir, false, &problems)
			testkit.NoError(t, problems.Err())
		}
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	unlock := testkit.Must(Lock(dir))(t)
	if _, err := Lock(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("the second lock: %v", err)
	}
	testkit.NoError(t, unlock())
	testkit.NoError(t, testkit.Must(Lock(dir))(t)())
	testkit.Fails(Lock(dir+"/none"))(t, dir+"/none")
}
