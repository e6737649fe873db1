package ksweep

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Result is validation accuracy against the number of groups (section 4.3 of the paper)
// on one data set.
type Result struct {
	Dataset string        `json:"dataset"`
	Seeds   int           `json:"seeds"`
	Parts   int           `json:"parts"`  // 1, or the parts of a rotation over classes
	Points  []Point       `json:"points"` // k-soft, by K
	Lines   []Point       `json:"lines"`  // what k-soft is compared with
	Missing []lab.Missing `json:"missing"`
}

// Point is the accuracy of a variant with a number of groups.
type Point struct {
	Variant  model.Variant    `json:"variant"`
	K        int              `json:"k"`
	Accuracy lab.Summary      `json:"val_accuracy"`
	Interval metrics.Interval `json:"interval"` // of the accuracy, over classes
}

// Run trains c, which is of k-soft, on the dev stage for each number of groups in ks, or
// for those of the paper that the attributes can form if ks is empty. For comparison it
// trains singletons and, if the data set has groups, semantic-hard, with their own presets
// and the data, seeds and training of c.
func Run(ctx context.Context, l *lab.Lab, c protocol.Config, ks []int) (*Result, error) {
	if c.Variant != model.KSoft {
		return nil, &invalid.Error{Field: "variant", Want: "k-soft, the variant with a number of groups", Got: string(c.Variant)}
	}
	ks, err := sweptKs(ks, len(l.Data.Attributes))
	if err != nil {
		return nil, err
	}
	c = c.On(l.Data) // the same preprocessing for the variants that k-soft is compared with
	var configs []protocol.Config
	for _, k := range ks {
		c.K = k
		configs = append(configs, c)
	}
	configs = append(configs, line(c, model.Singletons))
	if l.Data.Groups != nil {
		configs = append(configs, line(c, model.SemanticHard))
	}
	lists := make([][]train.Trial, len(configs))
	for i, each := range configs {
		for _, part := range l.Parts {
			lists[i] = append(lists[i], each.Trials(part, train.Dev, c.DevEpochs())...)
		}
	}
	done, err := l.DoAll(ctx, lists)
	if err != nil {
		return nil, err
	}
	s := &Result{Dataset: c.Dataset, Seeds: c.Seeds, Parts: len(l.Parts), Missing: lab.MissingOf(slices.Concat(done...))}
	for i, each := range configs {
		m := protocol.Measure(done[i])
		g := Point{each.Variant, each.K, m.PerClass, m.Interval}
		switch each.Variant {
		case model.KSoft:
			s.Points = append(s.Points, g)
			continue
		case model.Singletons:
			g.K = len(l.Data.Attributes)
		case model.SemanticHard:
			g.K = len(l.Data.Groups)
		}
		s.Lines = append(s.Lines, g)
	}
	return s, nil
}

// sweptKs returns the numbers of groups to try, ascending.
func sweptKs(ks []int, attributes int) ([]int, error) {
	if len(ks) == 0 {
		return published.KsUpTo(attributes), nil
	}
	ks = slices.Clone(ks)
	slices.Sort(ks)
	ks = slices.Compact(ks)
	if low, high := ks[0], ks[len(ks)-1]; low < 1 || high > attributes {
		return nil, &invalid.Error{
			Field: "ks", Want: fmt.Sprintf("numbers from 1 to the number of attributes, %d", attributes), Got: strings.Trim(fmt.Sprint(ks), "[]"),
		}
	}
	return ks, nil
}

// line returns the config of another variant for comparison with c: its preset, with the
// data, seeds, training length and preprocessing of c.
func line(c protocol.Config, v model.Variant) protocol.Config {
	line := protocol.PresetFor(c.Dataset, v).Config
	line.HoldOut, line.DevSplit, line.Seeds, line.Seed = c.HoldOut, c.DevSplit, c.Seeds, c.Seed
	line.Epochs, line.Patience, line.Batch = c.Epochs, c.Patience, c.Batch
	line.Preprocess, line.Ridge = c.Preprocess, c.Ridge
	line.Prior, line.Complement = c.Prior, c.Complement
	return line
}

// WriteText writes one row per number of groups, the variants for comparison, and the
// missing trials.
func (s *Result) WriteText(w io.Writer) error {
	t := format.NewTable("variant", "K", "validation accuracy", "95 % over classes", "s.e.m. over seeds", "seeds")
	t.Right(3, 5)
	for i, p := range slices.Concat(s.Points, s.Lines) {
		if i == len(s.Points) {
			t.Line()
		}
		t.Row(p.Variant, p.K, p.Accuracy.MeanText(), p.Interval, p.Accuracy.SEMText(), len(p.Accuracy.Values))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: validation accuracy against the number of groups, %s%s\n%s", s.Dataset, format.Count(s.Seeds, "seed"), protocol.InParts("a validation class", s.Parts), t)
	b.WriteString(lab.MissingText(s.Missing))
	_, err := io.WriteString(w, b.String())
	return err
}
