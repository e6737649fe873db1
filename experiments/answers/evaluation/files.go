package evaluation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train/metrics"
)

// ScoreFiles are scores that any program wrote.
type ScoreFiles struct {
	Scores string // samples x classes, in a format of package features
	Labels string // the column of each sample's true class
	// columns of unseen classes, their names in a CSV file, or a file of them; "": all are unseen
	Unseen string
	From   int       // 1 if labels and columns count from 1
	Kind   ScoreKind // "" to recognise it
}

// EvaluateScores evaluates the scores of a file. validation, if not nil, chooses gamma
// and the temperature; its scores are of the same kind.
func (c Config) EvaluateScores(ctx context.Context, f ScoreFiles, validation *ScoreFiles) (*Result, error) {
	s, err := f.read(ctx, "unseen")
	if err != nil {
		return nil, err
	}
	var v *scored
	if validation != nil {
		same := *validation
		same.Kind, same.From = s.kind, f.From
		if v, err = same.read(ctx, "val-unseen"); err != nil {
			return nil, err
		}
		if (v.sides == nil) != (s.sides == nil) {
			return nil, &invalid.Error{
				Field: "val-unseen",
				Want: "unseen classes for both " + f.Scores + " and " + validation.Scores +
					", or for neither",
			}
		}
	}
	r := c.evaluate(s, v)
	r.Source = Source{Scores: f.Scores, Labels: f.Labels}
	if f.From == 0 && slices.Min(s.labels) > 0 {
		less := slices.Clone(s.labels)
		for i := range less {
			less[i]--
		}
		r.note("no label is 0: if labels and columns count from 1 (--index-from 1), the "+
			"per-class accuracy is %s, not %s",
			format.Percent(metrics.TopK(s.scores, less, 1).Accuracy().PerClass), format.Percent(r.PerClass))
	}
	if v != nil {
		r.Validation.Of = []string{validation.Scores}
	} else {
		r.note("neither gamma nor a temperature is chosen: there are no validation scores")
	}
	return r, nil
}

// read reads and checks the files. field is that of the unseen columns.
func (f ScoreFiles) read(ctx context.Context, field string) (*scored, error) {
	named, err := features.Open(ctx, f.Scores)
	if err != nil {
		return nil, err
	}
	_ = named.Close() // nothing was written
	labels, err := features.ReadLabels(ctx, f.Labels, f.From, named.Names)
	if err != nil {
		return nil, err
	}
	scores, err := features.ReadScores(ctx, f.Scores, len(labels))
	if err != nil {
		return nil, err
	}
	s := &scored{scores: scores, labels: labels, rows: scores.AllRows(), names: named.Names}
	for z := range scores.Cols {
		if named.Names == nil {
			s.names = append(s.names, strconv.Itoa(z+f.From))
		}
	}
	if f.Unseen != "" {
		unseen, err := f.columns(ctx, field, s.names)
		if err != nil {
			return nil, err
		}
		s.sides = make(metrics.Sides, scores.Cols)
		for _, z := range unseen {
			s.sides[z] = true
		}
	}
	found := kindOf(scores)
	if f.Kind == Probabilities && found != Probabilities {
		return nil, &invalid.Error{
			Where: f.Scores, Want: "probabilities, rows of which sum to 1", Got: string(found),
		}
	}
	s.kind = cmp.Or(f.Kind, found)
	return s, s.check(f.Scores, f.Labels)
}

// columns returns the columns that Unseen names.
func (f ScoreFiles) columns(ctx context.Context, field string, names []string) (list []int, err error) {
	number := func(text string) bool { return strings.Trim(text, "0123456789, ;\t\r\n") == "" }
	text := f.Unseen
	// numbers are columns even if a file has such a name
	if info, err := os.Stat(text); err == nil && !info.IsDir() && !number(text) {
		switch strings.ToLower(filepath.Ext(text)) {
		case ".npy", ".npz", ".mat":
			numbers, err := features.ReadIntegers(ctx, text)
			if err != nil {
				return nil, err
			}
			text = format.Join(numbers)
		default:
			content, err := fileio.ReadFile(ctx, text, 1<<20)
			if err != nil {
				return nil, err
			}
			text = string(content)
		}
	}
	split := func(r rune) bool {
		return strings.ContainsRune(",;\r\n", r) || number(text) && (r == ' ' || r == '\t')
	}
	for _, word := range strings.FieldsFunc(text, split) {
		word = dataset.Name(word)
		z, hint := slices.Index(names, word), ""
		if n, err := strconv.Atoi(word); z < 0 && err == nil {
			z = n - f.From
		} else if z < 0 {
			hint = invalid.DidYouMean(word, names)
		}
		if z < 0 || z >= len(names) {
			want := fmt.Sprintf("columns from %d to %d of %s, names in its first line as "+
				"CSV, or a file of them", f.From, len(names)-1+f.From, f.Scores)
			return nil, &invalid.Error{Field: field, Want: want, Got: invalid.Quote(word), Hint: hint}
		}
		if slices.Contains(list, z) {
			hint = "Write the columns of the unseen classes, not a 0 or 1 for each class."
			return nil, &invalid.Error{
				Field: field, Want: "different columns", Got: invalid.Quote(word) + " twice", Hint: hint,
			}
		}
		list = append(list, z)
	}
	if len(list) == 0 {
		err = &invalid.Error{Field: field, Want: "columns of unseen classes, as in 3,5,7", Got: "none"}
	}
	return list, err
}

// kindOf recognises probabilities, or their logs, by rows that sum to 1. Other scores are bare.
func kindOf(scores dataset.Matrix[float32]) ScoreKind {
	const tolerance = 1e-3 // programs round what they write
	p, log := true, true
	for i := range scores.Rows {
		var sum, exp float64
		for _, v := range scores.Row(i) {
			p = p && v >= 0
			sum += float64(v)
			exp += math.Exp(float64(v))
		}
		p, log = p && math.Abs(sum-1) < tolerance, log && math.Abs(exp-1) < tolerance
	}
	switch {
	case p:
		return Probabilities
	case log:
		return Logits
	}
	return BareScores
}
