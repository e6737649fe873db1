package comparison

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// common is the settings of all methods.
func common(l *lab.Lab, seeds, epochs int) protocol.Config {
	c := testlab.Config(l, protocol.DevThenTest)
	c.Seeds, c.Epochs, c.Patience, c.Preprocess = seeds, epochs, epochs, preprocess.None
	return c
}

// compareAll compares LAGO, one of its variants and every baseline, each with its
// defaults.
func compareAll(l *lab.Lab) tuning.Config {
	return tuning.Config{
		Methods: append([]string{tuning.LAGOMethod, string(model.Singletons)}, methods.Names()...),
		LAGO:    testlab.Full(l, model.Singletons, model.SemanticHard),
		Common:  common(l, 2, 4),
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
		if p := m.Parts[0]; len(m.Parts) != 1 || p.Epochs < 1 || p.Epochs > 4 || len(p.Settings) == 0 {
			t.Errorf("%s: %+v", m.Name, m.Parts)
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
	// It, and not the other row of LAGO, is compared with every baseline.
	if len(r.Differences) != len(methods.Names()) {
		t.Fatalf("%d differences: %+v", len(r.Differences), r.Differences)
	}
	for i, d := range r.Differences {
		m := r.Methods[i+2]
		if want := chosen.Test.PerClass.Mean - m.Test.PerClass.Mean; d.Reference != "lago" || d.Method != m.Name || math.Abs(d.Mean-want) > 1e-12 || d.Holm < d.P {
			t.Errorf("%+v, expected a difference of %g to %s", d, want, m.Name)
		}
	}
}

// Without baselines the variants are compared with each other.
func TestCompareVariants(t *testing.T) {
	l := testlab.Simulated(t)
	c := compareAll(l)
	c.Methods = []string{tuning.LAGOMethod, string(model.Singletons), string(model.SemanticHard)}
	r := compareOn(t, l, c)
	if len(r.Differences) != 1 || r.Differences[0].Reference == r.Differences[0].Method {
		t.Errorf("%+v", r.Differences)
	}
	for _, m := range r.Methods {
		if _, ok := m.Parts[0].Settings["hold_out"]; ok {
			t.Errorf("%s chose %v, of which some are the data's", m.Name, m.Parts[0].Settings)
		}
	}
}

// In a rotation every class is unseen once, and neither settings nor models depend on the
// samples of the classes that are.
func TestCompareByRotation(t *testing.T) {
	l := testlab.Simulated(t)
	rotate := func(l *lab.Lab) *Result {
		t.Helper()
		if err := l.Rotate(4, 3); err != nil {
			t.Fatal(err)
		}
		c := compareAll(l)
		c.Methods, c.LAGO, c.Budget = []string{tuning.LAGOMethod, "eszsl"}, c.LAGO[1:], 3
		return compareOn(t, l, c)
	}
	r := rotate(l)
	if r.Parts != 4 || len(r.Classes) != len(l.Data.Classes) || len(r.Methods) != 2 || len(r.Differences) != 1 {
		t.Fatalf("%d parts, %d classes, %d methods, %d differences", r.Parts, len(r.Classes), len(r.Methods), len(r.Differences))
	}
	for j, m := range r.Methods {
		var mean float64
		seen := map[string]bool{}
		for _, c := range r.Classes {
			mean += c.Accuracy[j] / float64(len(r.Classes))
			seen[c.Class] = true
		}
		if math.Abs(mean-m.Test.PerClass.Mean) > 1e-12 || len(seen) != len(r.Classes) || len(m.Parts) != 4 || m.Test.Chance() != 0.25 {
			t.Errorf("%s: mean %g by class, %g by seed; %d classes, %d parts, chance %g", m.Name, mean, m.Test.PerClass.Mean, len(seen), len(m.Parts), m.Test.Chance())
		}
	}
	var csv bytes.Buffer
	if err := r.WriteCSV(&csv); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(csv.String(), "\n"); lines[0] != "class,part,samples,lago,eszsl" || len(lines) != len(r.Classes)+2 {
		t.Errorf("%s", &csv)
	}
	if _, _, err := Find(l.Root, RotationKind, l.Data.Name, l.Fingerprint()); err != nil {
		t.Error(err)
	}

	other := testlab.Simulated(t)
	part := l.Parts[2].Data
	for _, row := range part.SamplesOf(part.Split.Test) {
		for i := range other.Data.Features.Row(row) {
			other.Data.Features.Row(row)[i] *= -2
		}
	}
	again := rotate(lab.New(other.Data, t.TempDir()))
	for j, m := range again.Methods {
		if diff := cmp.Diff(r.Methods[j].Parts[2], m.Parts[2]); diff != "" {
			t.Errorf("%s: other choices with other unseen samples: %s", m.Name, diff)
		}
	}
}

// Every method is adapted, too, with settings of its own, which its models keep.
func TestCompareAdapted(t *testing.T) {
	l := testlab.Simulated(t)
	c := compareAll(l)
	c.LAGO = c.LAGO[1:]
	c.Methods, c.Folds, c.Adapt = []string{tuning.LAGOMethod, string(model.SemanticHard), "eszsl"}, 2, true
	ctx, cancel := context.WithCancel(t.Context())
	var adapted []string
	c.OnAdapt = func(method string) {
		if adapted = append(adapted, method); method == "eszsl" {
			cancel()
		}
	}
	if _, err := Run(ctx, l, c); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected it to be interrupted", err)
	}
	if diff := cmp.Diff(c.Methods, adapted); diff != "" {
		t.Error(diff)
	}
	c.OnAdapt = nil
	r := compareOn(t, l, c)
	if diff := cmp.Diff(r.Methods[0].Adapted, r.Methods[1].Adapted); diff != "" {
		t.Errorf("LAGO and the variant that it is: %s", diff)
	}
	for _, m := range r.Methods {
		a := m.Adapted
		if a == nil || len(a.Settings) != 1 || math.Abs(a.Difference.Mean-(a.Test-m.Test.PerClass.Mean)) > 1e-9 {
			t.Fatalf("%s: %+v", m.Name, a)
		}
		saved, err := train.Load(m.Models[0])
		if err != nil {
			t.Fatal(err)
		}
		if saved.Adaptation == nil || saved.Adaptation.Settings != a.Settings[0] {
			t.Errorf("%s: %+v", m.Name, saved.Adaptation)
		}
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "transductive (adapted to the unlabelled samples) minus inductive") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// Further seeds decide between the two best variants of the first seed; the others need none.
func TestCompareDevelopsTheTwoBestVariants(t *testing.T) {
	l := testlab.Simulated(t)
	l.Jobs = 1
	c := tuning.Config{Methods: []string{tuning.LAGOMethod}, LAGO: testlab.Full(l, model.Variants...), Common: common(l, 2, 4)}
	first, further := map[string]float64{}, []string{}
	l.OnRun = func(r lab.Run) {
		switch v := string(r.Model.Variant); {
		case r.Stage != train.Dev:
		case r.Training.Seed == c.Common.Seed:
			first[v] = r.Result.Evaluation.PerClass
		default:
			further = append(further, v)
		}
	}
	r := compareOn(t, l, c)
	if len(first) != len(model.Variants) {
		t.Fatalf("the first seed trained %v", first)
	}
	second := slices.Sorted(maps.Values(first))[len(first)-2]
	best := slices.DeleteFunc(slices.Sorted(maps.Keys(first)), func(v string) bool { return first[v] < second })
	slices.Sort(further)
	if !slices.Equal(further, best) || !slices.Contains(further, r.Methods[0].Variant) {
		t.Errorf("a further seed for %v, chosen %s; the first seed has %v", further, r.Methods[0].Variant, first)
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
	c := tuning.Config{Methods: []string{"eszsl"}, Common: common(l, 2, 4), Budget: 20}
	r := compareOn(t, l, c)
	m := r.Methods[0]
	if m.Tried != 20 {
		t.Errorf("tried %d settings of ESZSL, expected the budget", m.Tried)
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
			if got := run.Baseline.Values(); got["gamma"] != m.Parts[0].Settings["gamma"] || got["lambda"] != m.Parts[0].Settings["lambda"] {
				t.Errorf("%v was evaluated, expected the chosen %v", got, m.Parts[0].Settings)
			}
		}
	}
	if m.Val.PerClass.Mean != best || test != 1 {
		t.Errorf("%d models were evaluated on the test classes, chosen with %g where the best has %g", test, m.Val.PerClass.Mean, best)
	}
}

// The samples of the test classes affect neither settings nor models.
func TestCompareLearnsNothingFromTheTestClasses(t *testing.T) {
	before, l := testlab.Simulated(t), testlab.Simulated(t)
	c := tuning.Config{Methods: methods.Names(), Common: common(l, 1, 2), Budget: 3}
	for _, row := range l.Data.SamplesOf(l.Data.Split.Test) {
		clear(l.Data.Features.Row(row))
	}
	after := lab.New(l.Data, t.TempDir())
	a, b := compareOn(t, before, c), compareOn(t, after, c)
	u, rows := l.Data.Describe(l.Data.Split.Test), l.Data.SamplesOf(l.Data.Split.Val)
	for i, m := range a.Methods {
		if diff := cmp.Diff(m.Parts, b.Methods[i].Parts); diff != "" || m.Val.PerClass.Mean != b.Methods[i].Val.PerClass.Mean {
			t.Errorf("%s: other settings or val accuracies with other test samples: %s", m.Name, diff)
		}
		var scores [2][]float32
		for j, path := range []string{m.Models[0], b.Methods[i].Models[0]} {
			saved, err := train.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := model.Score(saved.Classifier, l.Data.Features, rows, u)
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
		{func(c *tuning.Config) { c.Budget = -1 }, "tune: expected 0, or at least 2 settings, found -1"},
		{func(c *tuning.Config) { c.Budget = 1 }, "tune: expected 0, or at least 2 settings, found 1"},
		{func(c *tuning.Config) { c.Folds = -1 }, "folds: expected at least 1, found -1"},
		{func(c *tuning.Config) { c.Common.Seeds = 0 }, "seeds: expected at least 1, found 0"},
		{func(c *tuning.Config) { c.Common.Epochs = -1 }, "epochs: expected at least 1, found -1"},
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
	l := testlab.Simulated(t)
	c := tuning.Config{Methods: []string{"eszsl"}, Common: common(l, 1, 1)}
	c.Common.Preprocess = preprocess.Standardize
	m := compareOn(t, l, c).Methods[0]
	if m.Parts[0].Settings["preprocess"] != preprocess.Standardize || m.Val.PerClass.Mean == 0 {
		t.Errorf("%v scores %g", m.Parts[0].Settings, m.Val.PerClass.Mean)
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
	c := tuning.Config{Methods: []string{"eszsl"}, Common: common(l, 1, 2), Budget: 12}
	root := t.TempDir()
	waited := false
	for turn := 0; ; turn++ {
		if turn > 20 {
			t.Fatal("the comparison does not end")
		}
		shard := lab.New(l.Data, root)
		shard.Shard = lab.Shard{Index: turn % 2, Count: 2}
		r, err := Run(context.Background(), shard, c)
		if waiting := (*lab.Waiting)(nil); errors.As(err, &waiting) {
			waited = true
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want := compareOn(t, l, c)
		if diff := cmp.Diff(want.Classes, r.Classes); diff != "" || !waited || len(r.Missing) > 0 {
			t.Errorf("waited is %v, missing %v; (-one process +shards):\n%s", waited, r.Missing, diff)
		}
		return
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
		m := &protocol.Measured{PerClass: lab.Summarise([]float64{test}), Interval: metrics.Interval{Low: test - 0.05, High: test + 0.04}, Classes: 4}
		part := tuning.Part{Variant: variant, Epochs: 3, Settings: map[string]any{"lr": 0.1, "beta": 2}, Edges: []tuning.Edge{{Setting: "lr", Value: 0.1, End: "highest"}}}
		return tuning.Method{Name: name, Title: title, Variant: variant, Val: m, Test: m, Parts: []tuning.Part{part}, Seconds: 1.25, Tried: 2}
	}
	r := &Result{Dataset: "birds", Parts: 1, Folds: 3, Methods: []tuning.Method{one(tuning.LAGOMethod, "", "k-soft", 0.5), one("eszsl", "ESZSL", "", 0.625)}}
	r.Methods[1].Published = "53.9"
	for _, c := range []struct {
		mean, holm float64
		text, want string
	}{
		{-0.125, 0.04, "│ ESZSL  │          -12.5 │", "LAGO (k-soft) is more accurate than: none; less accurate than: ESZSL; cannot be ranked on these classes (p by Holm at least 0.05): none\n"},
		{0.125, 0.04, "│ ESZSL  │          +12.5 │", "is more accurate than: ESZSL; less accurate than: none; cannot be ranked on these classes (p by Holm at least 0.05): none\n"},
		{-0.125, 0.05, "│ ESZSL  │          -12.5 │", "is more accurate than: none; less accurate than: none; cannot be ranked on these classes (p by Holm at least 0.05): ESZSL\n"},
	} {
		r.Differences = []Difference{{"lago", "eszsl", metrics.Difference{Mean: c.mean, Interval: metrics.Interval{Low: -0.2, High: -0.05}, P: 0.02}, c.holm}}
		var b bytes.Buffer
		if err := r.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"settings chosen over 3 folds of the seen classes", "LAGO (k-soft)", "(trainval_loc), its LAGO with them.\nHere every method is trained with them.\n",
			"│ ESZSL         │     62.5 % │ 62.5 % │ 57.5 to 66.5      │                 - │      53.9 │     1.2 │     1 │     2 │",
			c.text, fmt.Sprintf("│ 0.02 │     %.2g │", c.holm), c.want,
			"  eszsl: 3 epochs, beta 2, lr 0.1; at an end of the searched values: lr\n", "  lago: 3 epochs, k-soft, beta 2",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("expected %q in\n%s", want, b.String())
			}
		}
	}
}
