package comparison

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// compareAll compares LAGO, one of its variants and every baseline, each with its
// defaults.
func compareAll(l *lab.Lab) tuning.Config {
	return tuning.Config{
		Methods: append([]string{tuning.LAGOMethod, string(model.Singletons)}, methods.Names()...),
		LAGO:    testlab.Full(l, model.Singletons, model.SemanticHard),
		Seeds:   2, Seed: 5, Epochs: 4, Patience: 4, Preprocess: preprocess.None,
	}
}

func compareOn(t *testing.T, l *lab.Lab, c tuning.Config) *Result {
	t.Helper()
	r, err := Run(context.Background(), l, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCompare(t *testing.T) {
	l := testlab.Simulated(t)
	c := compareAll(l)
	r := compareOn(t, l, c)
	if len(r.Methods) != len(c.Methods) || len(r.Missing) > 0 {
		t.Fatalf("%d rows without %v, expected %d", len(r.Methods), r.Missing, len(c.Methods))
	}
	lago := 0.0
	for i, m := range r.Methods {
		if m.Name != c.Methods[i] {
			t.Errorf("row %d is %s, expected %s", i, m.Name, c.Methods[i])
		}
		seeds := 2
		if p, err := methods.Find(m.Name); err == nil && !p.Seeded {
			seeds = 1
		}
		if len(m.Val.PerClass.Values) != seeds || len(m.Test.PerClass.Values) != seeds || len(m.RunDirs) != 2*seeds {
			t.Errorf("%s: %d and %d values in %d folders, expected %d seeds", m.Name, len(m.Val.PerClass.Values), len(m.Test.PerClass.Values), len(m.RunDirs), seeds)
		}
		if m.Epochs < 1 || m.Epochs > 4 || len(m.Settings) == 0 {
			t.Errorf("%s: %d epochs with the settings %v", m.Name, m.Epochs, m.Settings)
		}
		if m.Variant != "" {
			lago = max(lago, m.Test.PerClass.Mean)
		}
	}
	for _, m := range r.Methods {
		if ahead := m.Variant == "" && m.Test.PerClass.Mean > lago; ahead != slices.Contains(r.Ahead, m.Name) {
			t.Errorf("%s scores %g, LAGO %g; ahead are %v", m.Name, m.Test.PerClass.Mean, lago, r.Ahead)
		}
	}
	// LAGO is the variant with the best validation accuracy.
	chosen, singletons := r.Methods[0], r.Methods[1]
	if chosen.Tried != len(c.LAGO) {
		t.Errorf("LAGO tried %d settings, expected one for each of the %d variants", chosen.Tried, len(c.LAGO))
	}
	if chosen.Val.PerClass.Mean < singletons.Val.PerClass.Mean {
		t.Errorf("%s was chosen with %g on the val classes, where singletons have %g", chosen.Variant, chosen.Val.PerClass.Mean, singletons.Val.PerClass.Mean)
	}
}

// Finished trials are reused.
func TestCompareReusesFinishedTrials(t *testing.T) {
	l := testlab.Simulated(t)
	c := compareAll(l)
	c.Methods = []string{string(model.Singletons), "eszsl"}
	c.LAGO = c.LAGO[:1]
	first := compareOn(t, l, c)
	l.OnRun = func(done lab.Run) { t.Errorf("%s was trained again", done.Name()) }
	second := compareOn(t, l, c)
	for i := range first.Methods {
		a, err := json.Marshal(first.Methods[i])
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(second.Methods[i])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("first %s, then %s", a, b)
		}
	}
}

// The settings of a baseline are those with the best val accuracy of all that were tried.
func TestCompareTunesOnVal(t *testing.T) {
	l := testlab.Simulated(t)
	c := tuning.Config{Methods: []string{"eszsl"}, Seeds: 2, Epochs: 4, Patience: 4, Preprocess: preprocess.None}
	r := compareOn(t, l, c)
	m := r.Methods[0]
	if m.Tried != 35 {
		t.Errorf("tried %d settings of ESZSL, expected the 7 x 5 of its space", m.Tried)
	}
	runs, err := lab.ReadRuns(l.Root)
	if err != nil {
		t.Fatal(err)
	}
	best, test := 0.0, 0
	for _, run := range runs {
		if run.Stage == train.Dev {
			best = max(best, run.Result.Evaluation.PerClass)
		} else {
			test++
			if got := run.Baseline.Values(); got["gamma"] != m.Settings["gamma"] || got["lambda"] != m.Settings["lambda"] {
				t.Errorf("%v was evaluated, expected the chosen %v", got, m.Settings)
			}
		}
	}
	if m.Val.PerClass.Mean != best || test != 1 {
		t.Errorf("%d models were evaluated on the test classes, chosen with %g where the best has %g", test, m.Val.PerClass.Mean, best)
	}
}

// The samples of the test classes affect neither settings nor models.
func TestCompareLearnsNothingFromTheTestClasses(t *testing.T) {
	c := tuning.Config{Methods: methods.Names(), Seeds: 1, Epochs: 2, Patience: 2, Preprocess: preprocess.None}
	before, l := testlab.Simulated(t), testlab.Simulated(t)
	for _, row := range l.Data.SamplesOf(l.Data.Split.Test) {
		clear(l.Data.Features.Row(row))
	}
	after := lab.New(l.Data, t.TempDir())
	a, b := compareOn(t, before, c), compareOn(t, after, c)
	u, rows := l.Data.Describe(l.Data.Split.Test), l.Data.SamplesOf(l.Data.Split.Val)
	for i, m := range a.Methods {
		if diff := cmp.Diff(m.Settings, b.Methods[i].Settings); diff != "" || m.Val.PerClass.Mean != b.Methods[i].Val.PerClass.Mean {
			t.Errorf("%s: other settings or val accuracies with other test samples: %s", m.Name, diff)
		}
		var scores [2][]float32
		for j, path := range []string{m.Models[0], b.Methods[i].Models[0]} {
			saved, err := train.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := saved.Classifier.Score(l.Data.Features, rows, u)
			if err != nil {
				t.Fatal(err)
			}
			scores[j] = s.Data
		}
		if !slices.Equal(scores[0], scores[1]) {
			t.Errorf("%s: the model differs with other test samples", m.Name)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	l := testlab.Simulated(t)
	for _, c := range []struct {
		change func(*tuning.Config)
		want   string
	}{
		{func(c *tuning.Config) { c.Methods = nil }, "methods: expected at least one"},
		{func(c *tuning.Config) { c.Methods = []string{"svm"} }, `methods: expected one of lago, singletons,`},
		{func(c *tuning.Config) { c.Methods = []string{"eszsl", "eszsl"} }, "methods: expected each method once, found eszsl twice"},
		{func(c *tuning.Config) { c.Budget = -1 }, "tune: expected 0, or at least 5 settings, which the search for LAGO needs, found -1"},
		{func(c *tuning.Config) { c.Budget = 2 }, "tune: expected 0, or at least 5 settings, which the search for LAGO needs, found 2"},
		{func(c *tuning.Config) { c.Seeds = 0 }, "seeds: expected at least 1, found 0"},
		{func(c *tuning.Config) { c.Epochs = 0 }, "epochs: expected at least 1, found 0"},
		{func(c *tuning.Config) {
			c.Fixed = []tuning.Fixed{{Method: "eszsl", Setting: "gamma", Value: json.RawMessage("-1")}}
		}, "eszsl: gamma: expected a number from 1e-18 to 1e+18, found -1"},
		{func(c *tuning.Config) {
			c.Fixed = []tuning.Fixed{{Method: "eszsl", Setting: "ridge", Value: json.RawMessage("1")}}
		}, `eszsl: expected one of gamma, lambda, normalise, found "ridge"`},
		{func(c *tuning.Config) {
			c.Methods, c.Fixed = c.Methods[:1], []tuning.Fixed{{Method: "eszsl", Setting: "gamma", Value: json.RawMessage("1")}}
		}, "set: expected a setting of one of the methods lago, found eszsl.gamma"},
	} {
		config := compareAll(l)
		c.change(&config)
		if _, err := Run(context.Background(), l, config); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error %v, expected %s", err, c.want)
		}
	}
}

// Preprocessing is one of the listed settings of a baseline.
func TestComparePreprocessed(t *testing.T) {
	c := tuning.Config{Methods: []string{"eszsl"}, Seeds: 1, Epochs: 1, Patience: 1, Preprocess: preprocess.Standardize}
	m := compareOn(t, testlab.Simulated(t), c).Methods[0]
	if m.Settings["preprocess"] != preprocess.Standardize || m.Val.PerClass.Mean == 0 {
		t.Errorf("%v scores %g", m.Settings, m.Val.PerClass.Mean)
	}
}

func TestParseFixed(t *testing.T) {
	for _, c := range []struct{ text, value string }{{"eszsl.gamma=1e3", "1e3"}, {"eszsl.normalise=false", "false"}} {
		f, err := tuning.ParseFixed(c.text)
		if err != nil || f.Method != "eszsl" || string(f.Value) != c.value {
			t.Errorf("%s: %+v, %v, expected the value %s", c.text, f, err, c.value)
		}
	}
	for _, text := range []string{"", "eszsl", "eszsl.gamma", "eszsl=1", ".gamma=1", "eszsl.=1", "eszsl.gamma=", "svm.c=1", "eszsl.kind=1", "eszsl.gamma=-1"} {
		if f, err := tuning.ParseFixed(text); err == nil {
			t.Errorf("%q gives %+v", text, f)
		}
	}
}

// A shard cannot choose settings before the others have finished; together they make the
// table of one process.
func TestCompareInShards(t *testing.T) {
	l := testlab.Simulated(t)
	c := tuning.Config{Methods: []string{"eszsl"}, Seeds: 1, Epochs: 2, Patience: 2, Preprocess: preprocess.None}
	l.Shard = lab.Shard{Index: 0, Count: 2}
	waiting := (*lab.Waiting)(nil)
	if _, err := Run(context.Background(), l, c); !errors.As(err, &waiting) || waiting.Left != 17 || waiting.Total != 35 {
		t.Fatalf("error %v, expected to wait for 17 of 35 trials", err)
	}
	l.Shard.Index = 1
	if r := compareOn(t, l, c); len(r.Missing) != 1 || len(r.Methods) != 0 { // the first of the test stage is the other's
		t.Fatalf("%d rows, and %v", len(r.Methods), r.Missing)
	}
	l.Shard.Index = 0
	if r := compareOn(t, l, c); len(r.Missing) != 0 || len(r.Methods) != 1 {
		t.Errorf("%d rows, and %v", len(r.Methods), r.Missing)
	}
}

func TestCompareWithoutGroups(t *testing.T) {
	l := testlab.Simulated(t)
	d := *l.Data
	d.Groups = nil
	l = lab.New(&d, t.TempDir())
	c := compareAll(l)
	c.Methods = []string{tuning.LAGOMethod, string(model.SemanticHard)}
	r := compareOn(t, l, c)
	if len(r.LeftOut) != 1 || len(r.Methods) != 1 || r.Methods[0].Variant != string(model.Singletons) {
		t.Errorf("left out %v; %d rows, of which the first is of %s", r.LeftOut, len(r.Methods), r.Methods[0].Variant)
	}
}

func TestComparisonText(t *testing.T) {
	one := func(name, title, variant string, test float64) tuning.Method {
		m := &protocol.Measured{PerClass: lab.Summarise([]float64{test}), Classes: 4}
		return tuning.Method{Name: name, Title: title, Variant: variant, Val: m, Test: m, Epochs: 3, Seconds: 1.25, Tried: 2, Settings: map[string]any{"lr": 0.1, "beta": 2}}
	}
	r := &Result{Dataset: "birds", Methods: []tuning.Method{one(tuning.LAGOMethod, "", "k-soft", 0.5), one("eszsl", "ESZSL", "", 0.625)}}
	r.Methods[1].Published = "53.9"
	r.Ahead = r.ahead()
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"LAGO (k-soft)", "│ ESZSL         │     62.5 % │      - │ 62.5 % │      - │      53.9 │     1.2 │     1 │     2 │",
		"ahead of LAGO on the test classes: eszsl\n", "  eszsl: 3 epochs, beta 2, lr 0.1\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("expected %q in\n%s", want, b.String())
		}
	}
}

// Each data set, split and configuration has its own stored comparison, and Find
// returns the last one of the same data.
func TestStoredComparison(t *testing.T) {
	m := &protocol.Measured{PerClass: lab.Summarise([]float64{0.625}), Classes: 4}
	l := testlab.Simulated(t)
	config := compareAll(l)
	store := func(l *lab.Lab, name string) (files []string) {
		t.Helper()
		if err := l.Store(kind, config, &Result{Dataset: l.Data.Name, Methods: []tuning.Method{{Name: name, Val: m, Test: m}}}); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(l.Root, "compare-simulated-small-*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	first := store(l, "first")[0]
	config.Budget++
	store(l, "second")
	d := *l.Data
	d.Labels = slices.Clone(d.Labels)
	d.Labels[0], d.Labels[1] = d.Labels[1], d.Labels[0]
	d.Features.Data = slices.Clone(d.Features.Data)
	d.Features.Data[0]++
	if files := store(lab.New(&d, l.Root), "other data"); len(files) != 3 {
		t.Errorf("stored in %v, expected three files", files)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(first, later, later); err != nil {
		t.Fatal(err)
	}
	r, path, err := Find(l.Root, "Simulated-Small", l.Fingerprint())
	if err != nil || path != first || r.Methods[0].Name != "first" || r.Methods[0].Test.PerClass.Mean != 0.625 {
		t.Errorf("found %+v in %s, error %v", r, path, err)
	}
	if _, _, err := Find(l.Root, l.Data.Name, "nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, expected fs.ErrNotExist", err)
	}
}
