package lab

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestProgressAddsUpAtEachChange(t *testing.T) {
	d := small()
	l := New(d, t.TempDir())
	do(t, l, grid(d)[:1]) // which the grid will find
	trials := append(grid(d), failing(d))
	const jobs = 2
	l.Jobs = jobs
	var changes []Progress
	l.OnProgress = func(p Progress) { changes = append(changes, p) }
	if _, err := l.Do(t.Context(), trials); err != nil {
		t.Fatal(err)
	}
	before := Progress{Found: 1, Done: 1}
	for i, p := range changes {
		ended := p.Done + p.Failed
		if p.Total != len(trials) || p.Found != 1 || p.Running < 0 || p.Running > jobs || ended+p.Running > p.Total {
			t.Errorf("change %d doesn't add up: %+v", i, p)
		}
		steps := ended - before.Done - before.Failed
		if starts := p.Running - before.Running; !(steps == 0 && starts == 1) && !(steps == 1 && starts == -1) {
			t.Errorf("change %d from %+v to %+v, expected one trial to start or to end", i, before, p)
		}
		if trained := ended > p.Found; (p.Left > 0) != (trained && ended < p.Total) {
			t.Errorf("change %d: time left %s of %+v, expected one from the first trained trial to the last but one", i, p.Left, p)
		}
		before = p
	}
	want := Progress{Total: 5, Done: 4, Failed: 1, Found: 1}
	if diff := cmp.Diff(want, before, cmpopts.IgnoreFields(Progress{}, "Left")); diff != "" {
		t.Errorf("the last change (-want +got):\n%s", diff)
	}
}

func TestProgressOfAShard(t *testing.T) {
	d := small()
	l := New(d, t.TempDir())
	l.Shard = Shard{1, 4}
	var last Progress
	l.OnProgress = func(p Progress) { last = p }
	if _, err := l.Do(t.Context(), grid(d)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Progress{Total: 1, Done: 1}, last); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProgressLine(t *testing.T) {
	for want, p := range map[string]Progress{
		"3 of 16 runs done, 2 running, 1 failed":                   {Total: 16, Done: 3, Running: 2, Failed: 1},
		"3 of 16 runs done, 2 running, 1 failed, about 1m30s left": {Total: 16, Done: 3, Running: 2, Failed: 1, Left: 90*time.Second + 1},
		"16 of 16 runs done, 0 running, 0 failed":                  {Total: 16, Done: 16},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
