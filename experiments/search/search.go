// Package search finds settings of a variant on the validation classes, by the search that
// comparisons use too (package engine).
package search

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
)

// Config is the start and the extent of a search.
type Config struct {
	Start  config.Config
	Budget int      // different settings to try
	Folds  int      // of the seen classes; at least 1
	Fixed  []string // keys of settings that are not searched
	File   string   // config file to write; "" for none
}

// Kind is the first word of the names of stored results, RotationKind with rotation.
const (
	Kind         = "searched"
	RotationKind = "searched-rotation"
)

// Result is what a search found.
type Result struct {
	Dataset string        `json:"dataset"`
	Variant model.Variant `json:"variant"`
	Budget  int           `json:"budget"`
	engine.Found
	Chosen  Chosen        `json:"chosen"`
	File    string        `json:"file"`    // config file that was written
	Missing []lab.Missing `json:"missing"` // failed runs
}

// Chosen is the best combination.
type Chosen struct {
	Accuracy lab.Summary   `json:"val_accuracy"` // of the further seeds
	Epochs   int           `json:"epochs"`       // with the highest accuracy of their average curve
	Edges    []engine.Edge `json:"edges"`        // settings whose best value is at an end of the space
	Config   config.Config `json:"config"`       // settings for the test stage, in the form of --config
}

func (c Config) plan() engine.Plan {
	return engine.Plan{
		Arms:  []engine.Arm{{Name: c.Start.Method.Label(), Title: c.Start.Method.Label(), Starts: []config.Config{c.Start}, Tune: c.Budget, Fixed: c.Fixed}},
		Stage: config.DevThenTest, Folds: c.Folds,
	}
}

// Check returns an *invalid.Error if the budget leaves nothing to choose.
func (c Config) Check() error {
	if c.Budget < engine.MinBudget {
		return &invalid.Error{Field: "budget", Want: fmt.Sprintf("at least %d settings", engine.MinBudget), Got: strconv.Itoa(c.Budget)}
	}
	return nil
}

// Run searches from c, which passes Check, writes the chosen settings to the file, and stores the result.
func Run(ctx context.Context, l *lab.Lab, c Config) (*Result, error) {
	f, err := engine.Search(ctx, l, c.plan())
	if err != nil {
		return nil, err
	}
	if len(f.Tried) == 0 {
		return nil, fmt.Errorf("none of the settings has a model; the first that failed, %s: %w", f.Failed[0].Dir, f.Failed[0].Err)
	}
	best := f.Tried[0]
	if best.Further == nil {
		last := f.Failed[len(f.Failed)-1]
		return nil, fmt.Errorf("none of the best settings has a model with each of %d further seeds; the last that failed, %s: %w",
			engine.FurtherSeeds, last.Dir, last.Err)
	}
	r := &Result{
		Dataset: c.Start.DataName(), Variant: c.Start.Method.Variant(), Budget: c.Budget, Found: *f, Missing: lab.MissingOf(f.Failed), File: c.File,
		Chosen: Chosen{Accuracy: *best.Further, Epochs: best.Epochs, Edges: f.Edges, Config: best.Config},
	}
	chosen := &r.Chosen.Config
	chosen.Stage, chosen.Epochs, chosen.Seeds = config.OnlyTest, r.Chosen.Epochs, c.Start.Seeds
	if c.File != "" {
		if err := chosen.Write(c.File, l.Fingerprint()); err != nil {
			return nil, err
		}
	}
	return r, l.Store(Kind, c, r)
}

// shown is the number of settings that the table shows.
const shown = 10

// Tables are the best settings, and what was chosen.
func (s *Result) Tables() []*table.Table {
	t := table.New(fmt.Sprintf("%s on %s: the best %d of %s by validation accuracy, the mean over %s; %s",
		s.Variant, s.Dataset, min(shown, len(s.Tried)), format.Count(len(s.Tried), "setting"), format.Count(s.Folds, "fold"), format.Count(s.Trials, "run")),
		"settings; from the second on those that differ from the first", "best epoch", "accuracy", fmt.Sprintf("%d further seeds", engine.FurtherSeeds), "s.e.m.").Right(3, 4, 5)
	for i, tried := range s.Tried[:min(shown, len(s.Tried))] {
		var settings []string
		for _, name := range s.Space {
			if value, ok := tried.Settings[name]; ok && (i == 0 || value != s.Tried[0].Settings[name]) {
				settings = append(settings, fmt.Sprintf("%s %v", name, value))
			}
		}
		var more lab.Summary
		if tried.Further != nil {
			more = *tried.Further
		}
		t.Row(strings.Join(settings, ", "), tried.BestEpoch, format.Percent(tried.Accuracy), more.MeanText(), more.SEMText())
	}
	if len(s.Tried)+len(s.Missing) < s.Budget {
		t.Note("the budget of %d settings was not used up: the space has no more", s.Budget)
	}
	chosen := s.Chosen
	t.Note("chosen: the first, %s (s.e.m. %s over %d further seeds), %s by their average curve",
		chosen.Accuracy.MeanText(), chosen.Accuracy.SEMText(), len(chosen.Accuracy.Values), format.Count(chosen.Epochs, "epoch"))
	if chosen.Epochs == s.Epochs {
		t.Note("  these are all epochs of a trial: more epochs may be better (--epochs)")
	}
	for _, e := range chosen.Edges {
		t.Note("  %s = %v is the %s value of the space: values beyond it may be better", e.Setting, e.Value, e.End)
	}
	if s.File != "" {
		t.Note("written to %s; evaluate it once on the test classes:\n  lago-train run --config %s", s.File, s.File)
	}
	return []*table.Table{t, lab.MissingTable(s.Missing)}
}

// Rotation is the accuracy to be expected of searched settings: the search is repeated without
// each part of the classes, and its choice evaluated on that part.
type Rotation struct {
	results.Study
	Methods []results.Method `json:"methods"`
	LeftOut []engine.LeftOut `json:"left_out"`
}

// RunRotation searches on each part of the lab, and stores the result. The error is a
// *lab.Waiting while other shards have not finished their trials.
func RunRotation(ctx context.Context, l *lab.Lab, c Config) (*Rotation, error) {
	done, err := engine.Run(ctx, l, c.plan())
	if err != nil {
		return nil, err
	}
	if done.Waiting != nil {
		return nil, done.Waiting
	}
	r := &Rotation{Study: results.NewStudy(l, done), Methods: results.Methods(done), LeftOut: done.LeftOut}
	return r, l.Store(RotationKind, c, r)
}

// Tables are the accuracy, and what each part of the rotation chose.
func (r *Rotation) Tables() []*table.Table {
	var list []*table.Table
	for _, m := range r.Methods {
		t := table.New(fmt.Sprintf("%s with searched settings%s:", m.Name, results.InParts("unseen", len(m.Parts))))
		list = append(list, t.Note("%s", m.Test).Note("settings that are not the default: %s", m.Chosen()))
	}
	for _, line := range engine.LeftOutText(r.LeftOut) {
		list = append(list, table.New(line))
	}
	return append(list, lab.MissingTable(r.Missing))
}

// Figures are none.
func (s *Result) Figures(string) ([]plot.Figure, error) { return nil, nil }

// Figures are none.
func (r *Rotation) Figures(string) ([]plot.Figure, error) { return nil, nil }
