package lab

import (
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/train"
)

func TestParseShard(t *testing.T) {
	for text, want := range map[string]Shard{"0/1": {0, 1}, "0/3": {0, 3}, "2/3": {2, 3}, "11/100": {11, 100}} {
		got, err := ParseShard(text)
		if err != nil || got != want {
			t.Errorf("ParseShard(%q) = %v, %v, expected %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "/", "1", "1/", "/2", "3/3", "4/3", "-1/3", "0/0", "0/-1", "1/2/3", "a/b", "1.0/2", "1 / 2"} {
		if got, err := ParseShard(text); err == nil || !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("ParseShard(%q) = %v, %v, expected an error with what was found", text, got, err)
		}
	}
}

func drawShard(t *rapid.T) Shard {
	count := rapid.IntRange(1, 20).Draw(t, "count")
	return Shard{rapid.IntRange(0, count-1).Draw(t, "index"), count}
}

// setSchedulers sets the variables of Slurm and Kubernetes, and unsets the others.
func setSchedulers(t *testing.T, variables map[string]string) {
	t.Helper()
	for _, name := range []string{
		"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS",
	} {
		t.Setenv(name, variables[name]) // restores it afterwards
		if _, ok := variables[name]; !ok {
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestShardFromEnvironment(t *testing.T) {
	for _, c := range []struct {
		name      string
		variables map[string]string
		want      Shard
	}{
		{"none", nil, Shard{}},
		{
			"Slurm, array 0-3",
			map[string]string{"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "0"},
			Shard{3, 4},
		},
		{
			"Slurm, array 1-4",
			map[string]string{"SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "1"},
			Shard{3, 4},
		},
		{
			"Slurm without a least index",
			map[string]string{"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "4"},
			Shard{1, 4},
		},
		{
			"Kubernetes",
			map[string]string{"JOB_COMPLETION_INDEX": "2", "JOB_COMPLETIONS": "5"},
			Shard{2, 5},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			setSchedulers(t, c.variables)
			if got, err := ShardFromEnvironment(); err != nil || got != c.want {
				t.Errorf("%v, %v, expected %v", got, err, c.want)
			}
		})
	}
}

func TestShardFromAnEnvironmentThatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name      string
		variables map[string]string
		want      []string
	}{
		{"no number", map[string]string{"SLURM_ARRAY_TASK_ID": "one", "SLURM_ARRAY_TASK_COUNT": "4"}, []string{"$SLURM_ARRAY_TASK_ID", `"one"`}},
		{"no count", map[string]string{"SLURM_ARRAY_TASK_ID": "1"}, []string{"$SLURM_ARRAY_TASK_COUNT", "found none"}},
		{
			"least is no number",
			map[string]string{"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "x"},
			[]string{"$SLURM_ARRAY_TASK_MIN", `"x"`},
		},
		{
			"below the least", // no array of Slurm has it
			map[string]string{"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "2"},
			[]string{"$SLURM_ARRAY_TASK_ID", "found 1"},
		},
		{
			"in steps", // as in --array=0-6:2, whose indices say nothing of how many there are
			map[string]string{"SLURM_ARRAY_TASK_ID": "6", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "0"},
			[]string{"$SLURM_ARRAY_TASK_ID", "found 6"},
		},
		{"no completions", map[string]string{"JOB_COMPLETION_INDEX": "0"}, []string{"$JOB_COMPLETIONS", "Set it to the number of shards"}},
		{"past the completions", map[string]string{"JOB_COMPLETION_INDEX": "5", "JOB_COMPLETIONS": "5"}, []string{"$JOB_COMPLETION_INDEX", "found 5"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			setSchedulers(t, c.variables)
			got, err := ShardFromEnvironment()
			if err == nil {
				t.Fatalf("%v, expected an error", got)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %s", err, part)
				}
			}
		})
	}
}

func TestShardsShareOutEveryTrialOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := drawShard(t).Count
		index := rapid.IntRange(0, 1000).Draw(t, "trial")
		holders := 0
		for i := range count {
			if (Shard{i, count}).Holds(index) {
				holders++
			}
		}
		if holders != 1 {
			t.Errorf("%d of %d shards hold trial %d", holders, count, index)
		}
	})
	if !(Shard{}).Holds(7) {
		t.Error("the zero shard is the whole grid, expected it to hold trial 7")
	}
}

func TestShardsLeaveToOthersAndGatherLater(t *testing.T) {
	d := small()
	trials := grid(d)
	root := t.TempDir()
	var seen witness
	for i := range 2 {
		l := New(d, root)
		l.Shard = Shard{i, 2}
		l.Options.OnEpoch = seen.see
		done, err := l.Do(t.Context(), trials)
		if err != nil {
			t.Fatal(err)
		}
		for j, one := range done {
			elsewhere := j%2 == 1 && i == 0 // the second shard finds what the first one did
			if errors.Is(one.Err, ErrElsewhere) != elsewhere || (one.Result == nil) != elsewhere {
				t.Errorf("shard %v, trial %d: result %v, error %v", l.Shard, j, one.Result, one.Err)
			}
		}
	}
	seen.compare(t, trials)
	l := New(d, root)
	l.Options.OnEpoch = func(trial train.Trial, e train.Epoch) { t.Errorf("%s is run again", stamp(trial, e)) }
	do(t, l, trials)
	compareRoots(t, undisturbed(t, d).Root, root, trials)
}
