package evaluation

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/train/metrics"
)

// EvaluationSplit says which classes models are judged by.
type Split string

// The splits.
const (
	ValSplit  Split = "val"  // the val classes, by models of the dev stage
	TestSplit Split = "test" // the test classes
	GZSLSplit Split = "gzsl" // all classes, by samples of the test classes and those held out of the others
)

// UnmarshalText reads "val", "test" or "gzsl".
func (s *Split) UnmarshalText(text []byte) error {
	switch Split(text) {
	case ValSplit, TestSplit, GZSLSplit:
		*s = Split(text)
		return nil
	}
	return fmt.Errorf("expected val, test or gzsl, found %q", text)
}

// ModelEvaluation is models to judge, and the data to judge them by.
type Models struct {
	Data   *dataset.Dataset
	Split  Split
	Models []*Model // several are an ensemble: the mean of their probabilities
	// Dev are the runs of the dev stage that gamma and the temperatures are chosen by,
	// one for each model. None: those of the same settings beside the models.
	Dev []*Model
}

// EvaluateModels judges models by the classes of a split, and validates by the same
// question put to the dev stage: its val classes are unseen, and the samples held out
// of its train classes are seen.
func (c Config) EvaluateModels(m Models) (*Result, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	dev, without, err := m.companions()
	if err != nil {
		return nil, err
	}
	var answers []*Scored // of dev
	if dev != nil {
		if answers, err = m.ask(dev, m.question(true)); err != nil {
			return nil, err
		}
	}
	members, err := m.ask(m.Models, m.question(m.Split == ValSplit))
	if err != nil {
		return nil, err
	}
	s, validation := members[0], (*Scored)(nil)
	if dev != nil {
		validation = answers[0]
	}
	if len(members) > 1 {
		temperatures, err := m.temperatures(answers, without)
		if err != nil {
			return nil, err
		}
		if s, err = join(members, temperatures); err != nil {
			return nil, err
		}
		if dev != nil {
			if validation, err = join(answers, temperatures); err != nil {
				return nil, err
			}
		}
	}
	e := c.Evaluate(s, validation)
	e.Source = m.source(members)
	for _, d := range dev {
		e.Validation.Of = append(e.Validation.Of, d.Dir)
	}
	if r := m.Models[0]; r.Fingerprint != m.Data.Fingerprint() {
		e.note("%s is not the data set that %s was trained on, or another split of it", m.Data.Name, r.Path)
	}
	if without != "" {
		e.note("%s: neither gamma nor a temperature is chosen", without)
	}
	return e, nil
}

// source says what was judged; members are the answers of each model alone.
func (m Models) source(members []*Scored) Source {
	source := Source{Split: string(m.Split), Dataset: m.Data.Name}
	for i, run := range m.Models {
		alone := metrics.TopK(members[i].Scores, members[i].Labels, 1).PerClass
		source.Models = append(source.Models, EvaluatedModel{run.Path, run.Saved.Method, run.Training.Seed, alone})
	}
	return source
}

// temperatures are those at which the scores of the models become probabilities,
// fitted to the answers of their runs of the dev stage where they are none.
func (m Models) temperatures(dev []*Scored, without string) ([]float64, error) {
	list := make([]float64, len(m.Models))
	for i, run := range m.Models {
		list[i] = 1
		if run.kind() == Logits {
			continue
		}
		if dev == nil {
			return nil, fmt.Errorf("%s: scores of %s are no probabilities, which an ensemble takes the mean of, and there is nothing to fit a temperature by: %s",
				run.Path, run.Saved.Method, without)
		}
		var err error
		if list[i], err = metrics.FitTemperature(dev[i].Scores, dev[i].Labels); err != nil {
			return nil, fmt.Errorf("%s: temperature: %w", run.Path, err)
		}
	}
	return list, nil
}

// join makes one of the answers that several models gave to the same question.
func join(members []*Scored, temperatures []float64) (*Scored, error) {
	joined := *members[0]
	joined.Kind = Logits
	var all, alone metrics.Ensemble
	for i, s := range members {
		if err := all.Add(s.Scores, temperatures[i]); err != nil {
			return nil, err
		}
		if s.Alone != nil {
			if err := alone.Add(s.Alone.Scores, temperatures[i]); err != nil {
				return nil, err
			}
		}
	}
	joined.Scores = all.Scores()
	if joined.Alone != nil {
		joined.Alone = &Scored{Scores: alone.Scores(), Labels: joined.Alone.Labels, Kind: Logits}
	}
	return &joined, nil
}
