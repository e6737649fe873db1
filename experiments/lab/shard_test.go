package lab

import (
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/train"
)

func TestParseShard(t *testing.T) {
	for text, want := range map[string]Shard{"0/1": {0, 1}, "0/3": {0, 3}, "2/3": {2, 3}, "11/100": {11, 100}} {
		testkit.Equal(t, text, testkit.Must(ParseShard(text))(t), want)
	}
	for _, text := range []string{"", "/", "1", "1/", "/2", "3/3", "4/3", "-1/3", "0/0", "0/-1", "1/2/3", "a/b", "1.0/2", "1 / 2"} {
		_, err := ParseShard(text)
		testkit.WantError(t, err, `"`+text+`"`)
	}
}

func TestShardFromEnvironment(t *testing.T) {
	const id, count, least, index, completions = "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"
	for name, c := range map[string]struct {
		variables map[string]string
		want      Shard
		err       []string
	}{
		"none":                          {nil, Shard{}, nil},
		"Slurm, array 0-3":              {map[string]string{id: "3", count: "4", least: "0"}, Shard{3, 4}, nil},
		"Slurm, array 1-4":              {map[string]string{id: "4", count: "4", least: "1"}, Shard{3, 4}, nil},
		"Kubernetes":                    {map[string]string{index: "2", completions: "5"}, Shard{2, 5}, nil},
		"no number":                     {map[string]string{id: "one", count: "4"}, Shard{}, []string{"$" + id, `"one"`}},
		"no count":                      {map[string]string{id: "1"}, Shard{}, []string{"$" + count, `found ""`}},
		"in steps, as in --array=0-6:2": {map[string]string{id: "6", count: "4", least: "0"}, Shard{}, []string{"$" + id, "found 6"}},
		"no completions":                {map[string]string{index: "0"}, Shard{}, []string{"$" + completions, "give --shard I/N"}},
		"past the completions":          {map[string]string{index: "5", completions: "5"}, Shard{}, []string{"$" + index, "found 5"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{id, count, least, index, completions} {
				t.Setenv(variable, c.variables[variable]) // the empty string is none
			}
			got, err := ShardFromEnvironment()
			if got != c.want || (err != nil) != (c.err != nil) {
				t.Fatalf("%v, %v, expected %v", got, err, c.want)
			}
			if c.err != nil {
				testkit.WantError(t, err, c.err...)
			}
		})
	}
}

func TestShardsLeaveToOthersAndGatherLater(t *testing.T) {
	d := tiny.Small()
	trials := someTrials(d)
	root := t.TempDir()
	var seen witness
	for i := range 2 {
		l := New(d, root)
		l.Shard = Shard{i, 2}
		l.Options.OnEpoch = seen.see
		done := testkit.Must(l.Do(t.Context(), tasks(trials)))(t)
		for j, one := range done {
			elsewhere := j%2 == 1 && i == 0 // the second shard finds what the first one did
			if (one.Missing != nil && one.Missing.State == Waiting) != elsewhere || (one.Result == nil) != elsewhere {
				t.Errorf("shard %v, trial %d: result %v, missing %v", l.Shard, j, one.Result, one.Missing)
			}
		}
	}
	seen.compare(t, trials)
	l := New(d, root)
	l.Options.OnEpoch = func(trial train.Trial, e train.Epoch) { t.Errorf("%s is run again", stamp(trial, e)) }
	do(t, l, trials)
	compareRoots(t, undisturbed(t, d).Root, root, trials)
}
