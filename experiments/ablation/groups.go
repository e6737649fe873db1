package ablation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// GroupsKind is the first word of the names of stored results of RunGroups.
const GroupsKind = "semantic-groups"

// randomDraws is the number of random groupings.
const randomDraws = 5

// Groups is the accuracy of a variant with the groups of the data set and with others: the
// paper's claim that semantic groups help.
type Groups struct {
	Dataset string        `json:"dataset"`
	Variant model.Variant `json:"variant"`
	Parts   int           `json:"parts"`   // 1, or the parts of a rotation over classes
	Classes int           `json:"classes"` // unseen
	Seeds   int           `json:"seeds"`
	Rows    []GroupsRow   `json:"rows"` // semantic groups first
	Missing []lab.Missing `json:"missing"`
}

// GroupsRow is the test accuracy with one kind of groups.
type GroupsRow struct {
	Groups string `json:"groups"` // kind of groups
	// random groupings over which the accuracy is a mean, otherwise 1
	Draws    int              `json:"draws"`
	Accuracy float64          `json:"test_per_class_accuracy"` // mean over classes, seeds and draws
	Interval metrics.Interval `json:"interval"`                // over classes
	// semantic groups minus these, with p corrected by Holm; null for semantic groups
	Difference *metrics.Difference `json:"difference"`

	classes []float64 // sums over Draws
}

// RunGroups trains base, a variant with semantic groups, by the full protocol with these, with
// singletons (their own defaults, and the settings of base), and with random groups of the same
// sizes, and stores the result.
func RunGroups(ctx context.Context, l *lab.Lab, base config.Config) (*Groups, error) {
	base = base.On(l.Data)
	own := base.Clone()
	own.Method, own.Preprocess = methods.Of(model.Singletons), config.AutoPreprocess
	arms := []struct {
		name  string
		start config.Config
	}{{"semantic", base}, {"singletons", own}, {"singletons, same settings", base.With("variant", model.Singletons)}}
	g := &Groups{Dataset: base.DataName(), Variant: base.Method.Variant(), Parts: len(l.Parts), Seeds: base.Seeds}
	for i := range len(arms) + randomDraws {
		row, start, in := GroupsRow{Groups: "random, same sizes"}, base, l
		if i < len(arms) {
			row.Groups, start = arms[i].name, arms[i].start
		} else {
			l.Step("random groups, %d of %d", i-len(arms)+1, randomDraws)
			in = shuffled(l, uint64(i-len(arms)))
		}
		done, err := engine.Run(ctx, in, engine.Plan{Arms: []engine.Arm{{Name: row.Groups, Starts: []config.Config{start}}}, Stage: config.DevThenTest})
		if err != nil {
			return nil, err
		}
		if done.Waiting != nil {
			return nil, done.Waiting
		}
		g.Missing = append(g.Missing, done.Missing...)
		rows := results.Rows(done)
		if len(rows) == 0 {
			continue // Missing says why
		}
		row.Draws, row.classes = 1, rows[0].Test.ByClass
		if at := len(g.Rows) - 1; at >= 0 && g.Rows[at].Groups == row.Groups {
			floats.Add(g.Rows[at].classes, row.classes)
			g.Rows[at].Draws++
			continue
		}
		g.Rows = append(g.Rows, row)
	}
	var differences []*metrics.Difference
	for i := range g.Rows {
		r := &g.Rows[i]
		floats.Scale(1/float64(r.Draws), r.classes)
		r.Accuracy, r.Interval, g.Classes = stat.Mean(r.classes, nil), metrics.ClassInterval(r.classes), len(r.classes)
		if i > 0 && g.Rows[0].Groups == arms[0].name {
			d := metrics.PairedDifference(g.Rows[0].classes, r.classes)
			r.Difference, differences = &d, append(differences, &d)
		}
	}
	correct(differences)
	return g, l.Store(GroupsKind, base, g)
}

// shuffled returns a lab like l with the groups of the attributes in random order.
func shuffled(l *lab.Lab, seed uint64) *lab.Lab {
	attributes := slices.Clone(l.Data.Attributes)
	for i, from := range rand.New(rand.NewPCG(seed, 0)).Perm(len(attributes)) {
		attributes[i].Group = l.Data.Attributes[from].Group
	}
	other := *l
	other.Parts = nil
	for _, part := range l.Parts {
		d := *part.Data
		d.Attributes = attributes
		other.Parts = append(other.Parts, l.ViewOf(&d))
	}
	return &other
}

// Tables are the accuracies with each kind of groups.
func (g *Groups) Tables() []*table.Table {
	t := table.New(fmt.Sprintf("%s on %s: per-class accuracy by groups of attributes, %s, %s%s", g.Variant, g.Dataset,
		format.Count(g.Classes, "unseen class"), format.Count(g.Seeds, "seed"), results.InParts("unseen", g.Parts)),
		"groups", "unseen", "95 % over classes", "semantic minus these", "p (Holm)").Right(2, 4, 5)
	for _, r := range g.Rows {
		difference, p := "-", "-"
		if r.Difference != nil {
			difference, p = points(*r.Difference), fmt.Sprintf("%.2g", r.Difference.P)
		}
		t.Row(r.Groups, format.Percent(r.Accuracy), r.Interval, difference, p)
	}
	return []*table.Table{t.Note("random: mean over %d draws", g.Rows[len(g.Rows)-1].Draws), lab.MissingTable(g.Missing)}
}

// Check returns an *invalid.Error if a result, as read from a file, is incomplete.
func (g *Groups) Check() error { return lab.NotEmpty("rows", len(g.Rows)) }

// Figures are the accuracies.
func (g *Groups) Figures(string) ([]plot.Figure, error) {
	p, s := &plot.Dots{X: results.AccuracyAxis, Percent: true}, plot.DotSeries{Name: "unseen"}
	for i, r := range g.Rows {
		p.Rows = append(p.Rows, plot.Row{Name: r.Groups, Focus: i == 0})
		s.Dots = append(s.Dots, results.Dot(i, r.Accuracy, r.Interval))
	}
	p.Panels = []plot.Panel{{Chance: results.Chance(g.Parts, g.Classes), Series: []plot.DotSeries{s}}}
	return []plot.Figure{{
		Name: GroupsKind, Title: "Groups of attributes, " + string(g.Variant), Picture: p,
		Caption: fmt.Sprintf("%s, mean over %s; %s. Random groups have the sizes of the semantic ones; mean over %d draws.",
			format.Count(g.Classes, "unseen class"), format.Count(g.Seeds, "seed"), results.IntervalText, randomDraws),
	}}, nil
}
