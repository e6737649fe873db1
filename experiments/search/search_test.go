package search

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// sameSearch compares searches but for where their folders are.
var sameSearch = cmp.Options{
	cmpopts.IgnoreFields(tuning.Tried{}, "Dirs"),
}

const searchBudget = 10

func find(t *testing.T, l *lab.Lab) *tuning.Found {
	t.Helper()
	s, err := tuning.Search(t.Context(), l, testlab.Config(l, protocol.DevThenTest), tuning.SearchOptions{Budget: searchBudget, Folds: 2})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFindSettings(t *testing.T) {
	l := testlab.Simulated(t)
	s := find(t, l)
	const trials = 2 * (searchBudget + tuning.FurtherSeeds) // of two folds
	if s.Trials != trials || len(s.Tried) != searchBudget || len(s.Missing) > 0 {
		t.Errorf("%d trials, %d settings, %d missing", s.Trials, len(s.Tried), len(s.Missing))
	}
	best := s.Tried[0]
	given := testlab.Config(l, protocol.DevThenTest)
	if !slices.ContainsFunc(s.Tried, func(t tuning.Tried) bool {
		return t.Settings["lr"] == given.LR && t.Settings["lambda"] == given.Lambda
	}) {
		t.Errorf("the settings that it starts from were not tried")
	}
	for i, tried := range s.Tried {
		if tried.Accuracy > best.Accuracy {
			t.Errorf("%v scores %g, more than the best, %g", tried.Settings, tried.Accuracy, best.Accuracy)
		}
		if (tried.Further != nil) != (i == 0) { // one setting in eight has further seeds
			t.Errorf("setting %d: further seeds are %v", i, tried.Further)
		}
	}
	runs, err := lab.ReadRuns(filepath.Join(l.Root, "splits"))
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != trials {
		t.Errorf("%d folders, expected %d", len(runs), trials)
	}
	for _, r := range runs {
		if r.Stage != train.Dev {
			t.Errorf("%s is of the %s stage: the search used test classes", r.Dir, r.Stage)
		}
	}
	again := find(t, lab.New(l.Data, t.TempDir()))
	if diff := cmp.Diff(s, again, sameSearch); diff != "" {
		t.Errorf("in another folder (-first +second):\n%s", diff)
	}
	l.Options.OnEpoch = func(r train.Trial, _ train.Epoch) { t.Errorf("%s is trained again", r.Name()) }
	if diff := cmp.Diff(s, find(t, l), sameSearch); diff != "" {
		t.Errorf("in the same folder (-first +second):\n%s", diff)
	}
}

// The chosen settings have the best further seeds, whose average curve gives the epochs.
// Their config file makes the same trials.
func TestChosenSettings(t *testing.T) {
	l := testlab.Simulated(t)
	s := find(t, l)
	c := s.Chosen.Config
	dev := c
	dev.Seed, dev.Seeds = c.Seed+1, tuning.FurtherSeeds
	folds, err := l.Folds(l.Parts[0], 2)
	if err != nil {
		t.Fatal(err)
	}
	var trials []train.Trial
	for _, fold := range folds {
		trials = append(trials, dev.Trials(fold, train.Dev, s.Epochs)...)
	}
	done, err := l.Do(t.Context(), trials)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(protocol.Measure(done).PerClass, s.Chosen.Accuracy, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("accuracy (-trials +chosen):\n%s", diff)
	}
	epochs, err := protocol.DevEpoch(done)
	if err != nil {
		t.Fatal(err)
	}
	want := testlab.Config(l, protocol.OnlyTest)
	if c.Epochs != epochs || c.Epochs != s.Chosen.Epochs || c.Stage != protocol.OnlyTest || c.Seeds != want.Seeds || c.Seed != want.Seed {
		t.Errorf("%+v", c)
	}
	path := filepath.Join(t.TempDir(), "found.json")
	if err := c.Write(path, l.Fingerprint()); err != nil {
		t.Fatal(err)
	}
	given, err := protocol.ReadFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := protocol.Resolve(given, protocol.PresetFor)
	if err != nil {
		t.Fatal(err)
	}
	read := p.Config
	if got, want := read.Trials(l.Parts[0], train.Test, c.Epochs), c.Trials(l.Parts[0], train.Test, c.Epochs); !slices.Equal(got, want) {
		t.Errorf("the file makes the trials %+v, expected %+v", got, want)
	}
	if _, err := protocol.Run(t.Context(), l, read); err != nil {
		t.Errorf("the chosen settings do not run: %v", err)
	}
}

// A search of several shards waits for each round, and ends as one of a single
// process does.
func TestFindSettingsInShards(t *testing.T) {
	l := testlab.Simulated(t)
	want := find(t, l)
	root := t.TempDir()
	var last *tuning.Found
	for turn := 0; last == nil; turn++ {
		if turn > 20 {
			t.Fatal("the search does not end")
		}
		shard := lab.New(l.Data, root)
		shard.Shard = lab.Shard{Index: turn % 2, Count: 2}
		s, err := tuning.Search(t.Context(), shard, testlab.Config(l, protocol.DevThenTest), tuning.SearchOptions{Budget: searchBudget, Folds: 2})
		var waiting *lab.Waiting
		switch {
		case err == nil:
			last = s
		case !errors.As(err, &waiting):
			t.Fatal(err)
		case waiting.Left < 1 || waiting.Left >= waiting.Total || !strings.Contains(err.Error(), "Repeat the command"):
			t.Errorf("%v", err)
		}
	}
	if diff := cmp.Diff(want, last, sameSearch); diff != "" {
		t.Errorf("(-one process +shards):\n%s", diff)
	}
}

// A failed setting is listed as missing, and the search continues.
func TestFindSettingsDespiteAFailure(t *testing.T) {
	l := testlab.Simulated(t)
	before := find(t, l)
	root := t.TempDir()
	runs, err := lab.ReadRuns(filepath.Join(l.Root, "splits"))
	if err != nil {
		t.Fatal(err)
	}
	var failed string
	for _, r := range runs {
		if r.Dir == before.Tried[0].Dirs[1] {
			failed = testlab.LogRun(t, filepath.Join(root, "splits"), r.Trial, train.NotFinite, 0.5)
		}
	}
	s := find(t, lab.New(l.Data, root))
	if len(s.Missing) != 1 || s.Missing[0].Dir != failed || s.Missing[0].Why != "CXE is NaN" {
		t.Errorf("missing: %v, expected %s", s.Missing, failed)
	}
	if cmp.Equal(s.Tried[0].Settings, before.Tried[0].Settings) {
		t.Errorf("%v is the best, and failed", s.Tried[0].Settings)
	}
}

func TestFindSettingsWhereAllFail(t *testing.T) {
	l := testlab.Simulated(t)
	c := testlab.Config(l, protocol.OnlyDev)
	c.LR = 1e38
	_, err := tuning.Search(t.Context(), l, c, tuning.SearchOptions{Budget: tuning.MinBudget, Folds: 1, Fixed: []string{"lr"}})
	if err == nil || !strings.Contains(err.Error(), "none of the settings has a model; the first that failed, "+l.Root) {
		t.Errorf("error %v", err)
	}
}

func TestFindSettingsWhereTheFurtherSeedsFail(t *testing.T) {
	l := testlab.Simulated(t)
	before := find(t, l)
	c := before.Chosen.Config
	c.Seed++
	root := t.TempDir()
	folds, err := l.Folds(l.Parts[0], 2)
	if err != nil {
		t.Fatal(err)
	}
	dir := testlab.LogRun(t, filepath.Join(root, "splits"), c.Trials(folds[0], train.Dev, before.Epochs)[0], train.NotFinite, 0.5)
	_, err = tuning.Search(t.Context(), lab.New(l.Data, root), testlab.Config(l, protocol.DevThenTest), tuning.SearchOptions{Budget: searchBudget, Folds: 2})
	want := "none of the best settings has a model with each of 3 further seeds; the last that failed, " + dir + ": CXE is NaN"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, expected %s", err, want)
	}
}

// A space with fewer settings than the budget has trials for is searched whole.
func TestFindSettingsInASmallSpace(t *testing.T) {
	l := testlab.Simulated(t)
	c := testlab.Config(l, protocol.OnlyDev)
	c.Epochs = 1
	var rounds []string
	s, err := tuning.Search(t.Context(), l, c, tuning.SearchOptions{
		Budget: 30, Folds: 1, Fixed: []string{"lr", "bias_factor", "ridge", "beta", "lambda", "alpha", "prior"},
		OnRound: func(round string, trials int) { rounds = append(rounds, round) },
	})
	if err != nil {
		t.Fatal(err)
	}
	// The six chains of preprocessing, then three seeds of the three best.
	if len(s.Tried) != 6 || s.Trials != 15 {
		t.Errorf("%d settings, %d trials", len(s.Tried), s.Trials)
	}
	if diff := cmp.Diff([]string{"coarse", "further seeds"}, rounds); diff != "" {
		t.Errorf("rounds (-want +got):\n%s", diff)
	}
	if text := searchText(t, s); !strings.Contains(text, "the budget of 30 settings was not used up") {
		t.Error(text)
	}
}

// A number of groups that is left to the data is searched around like any other.
func TestFindSettingsOfKSoft(t *testing.T) {
	l := testlab.Simulated(t)
	c := testlab.Config(l, protocol.OnlyDev)
	c.Variant, c.Zeta = model.KSoft, 1
	c.Epochs, c.K = 1, 0
	s, err := tuning.Search(t.Context(), l, c, tuning.SearchOptions{Budget: 4, Folds: 1, Fixed: []string{"lr", "preprocess", "ridge", "beta", "lambda", "lr_v", "zeta", "alpha", "prior"}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[any]bool{}
	for _, tried := range s.Tried {
		got[tried.Settings["k"]] = true
	}
	// As many as there are attributes, the one listed number that they can form, and
	// halfway between them.
	if diff := cmp.Diff(map[any]bool{9: true, 1: true, 3: true}, got); diff != "" {
		t.Errorf("K (-want +got):\n%s", diff)
	}
}

func TestFindSettingsRefusesASmallBudget(t *testing.T) {
	l := lab.New(&dataset.Dataset{}, t.TempDir())
	_, err := tuning.Search(t.Context(), l, protocol.Config{}, tuning.SearchOptions{Budget: 1})
	if want := "budget: expected at least 2 settings, found 1"; err == nil || err.Error() != want {
		t.Errorf("error %v, expected %s", err, want)
	}
}

func TestSearchText(t *testing.T) {
	further := lab.Summarise([]float64{0.5, 0.52, 0.54})
	s := &tuning.Found{
		Dataset: "cub", Variant: model.SemanticHard, Budget: 5, Folds: 3, Trials: 24, Epochs: 40,
		Space: []string{"lr", "preprocess", "ridge"},
		Tried: []tuning.Tried{
			{Settings: map[string]any{"lr": 3e-4, "preprocess": "whiten", "ridge": 1e4}, Accuracy: 0.5, BestEpoch: 40, Further: &further},
			{Settings: map[string]any{"lr": 1e-5, "preprocess": "none"}, Accuracy: 0.25, BestEpoch: 7},
		},
		Chosen:  tuning.Chosen{Accuracy: further, Epochs: 40, Edges: []tuning.Edge{{Setting: "lr", Value: 3e-4, End: "highest"}}},
		Missing: []lab.Missing{{Dir: "runs/a", Why: "CXE is NaN"}},
	}
	text := searchText(t, s)
	for _, want := range []string{
		"the best 2 of 2 settings by validation accuracy, the mean over 3 folds; 24 runs", "│ 0.0003 │ whiten     │ 10000 │         40 │   50.0 % │          52.0 % │  1.2 % │", "│  1e-05 │ none       │ -     │          7 │   25.0 % │               - │      - │",
		"chosen: the first, 52.0 % (s.e.m. 1.2 % over 3 further seeds), 40 epochs", "these are all epochs of a trial",
		"lr = 0.0003 is the highest value of the space", "  lago-train run --config found.json\n", "  runs/a: CXE is NaN\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in\n%s", want, text)
		}
	}
}

func searchText(t *testing.T, s *tuning.Found) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, s, "found.json"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
