package evaluation

import (
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/train/metrics"
)

// question is some samples, to be named as one of some classes.
type question struct {
	rows    []int // of the data set; those of unseen classes come first
	classes []int
	unseen  []int         // those of the classes that are
	sides   metrics.Sides // of classes; nil where all are unseen
	alone   int           // how many samples are of unseen classes
}

// question returns what models are asked. Those of the dev stage know nothing of the
// val classes, which stand for the test classes of the others.
func (m Models) question(dev bool) question {
	seen, unseen := m.Data.Split.Seen(), m.Data.Split.Test
	if dev {
		seen, unseen = m.Data.Split.Train, m.Data.Split.Val
	}
	q := question{rows: m.Data.SamplesOf(unseen), classes: unseen, unseen: unseen}
	q.alone = len(q.rows)
	if m.Split != GZSLSplit {
		return q
	}
	for _, row := range m.Data.TestSeen {
		if slices.Contains(seen, m.Data.Labels[row]) {
			q.rows = append(q.rows, row)
		}
	}
	q.classes = slices.Sorted(slices.Values(slices.Concat(seen, unseen)))
	for _, z := range q.classes {
		q.sides = append(q.sides, slices.Contains(unseen, z))
	}
	return q
}

// labels are the places of the classes of some samples in a list of classes.
func labels(d *dataset.Dataset, rows, classes []int) []int {
	list := make([]int, len(rows))
	for i, row := range rows {
		list[i] = slices.Index(classes, d.Labels[row])
	}
	return list
}

// ask puts a question to each of some models.
func (m Models) ask(models []*Model, q question) ([]*Scored, error) {
	var names []string
	for _, z := range q.classes {
		names = append(names, m.Data.Classes[z])
	}
	answers := make([]*Scored, len(models))
	for i, run := range models {
		s := &Scored{Labels: labels(m.Data, q.rows, q.classes), Kind: run.kind(), Sides: q.sides, Names: names, Rows: q.rows}
		if err := run.answer(s, m.Data, q); err != nil {
			return nil, fmt.Errorf("%s: %w", run.Path, err)
		}
		if err := s.check(run.Path, m.Data.Name); err != nil {
			return nil, err
		}
		answers[i] = s
	}
	return answers, nil
}

// answer scores the samples for all classes and, where some are seen, those of unseen
// classes for these alone: what a class is scored may depend on which others are at
// hand.
func (r *Model) answer(s *Scored, d *dataset.Dataset, q question) error {
	a, err := r.Saved.Classifier.Detect(d.Features, q.rows)
	if err != nil {
		return err
	}
	if s.Scores, err = r.Saved.Classifier.Classify(a, d.Describe(q.classes)); err != nil || q.sides == nil {
		return err
	}
	a.Rows, a.Data = q.alone, a.Data[:q.alone*a.Cols]
	s.Alone = &Scored{Labels: labels(d, q.rows[:q.alone], q.unseen), Kind: s.Kind}
	s.Alone.Scores, err = r.Saved.Classifier.Classify(a, d.Describe(q.unseen))
	return err
}

// kind says what the scores of a model are.
func (r *Model) kind() ScoreKind {
	if r.Baseline.Method == "" {
		return Logits // LAGO's are log p(z|x)
	}
	return BareScores
}

// learned are the classes that a model learned from, by name.
func (r *Model) learned() []string {
	var names []string
	for _, z := range r.Saved.Learned {
		names = append(names, r.Saved.Classes[z])
	}
	return names
}
