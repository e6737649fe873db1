package studies

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// GroupThresholds says how groups are analysed.
type GroupThresholds struct {
	// up to which entries of Gamma, and products of its rows, count as zero
	Threshold float64 `json:"threshold"`
	// the correlation below which two attributes are anti-correlated
	Below float64 `json:"anticorrelated_below"`
}

// Grouping asks for the groups that a model learns.
type Grouping struct {
	GroupThresholds
	Base config.Config `json:"base"` // set by Plan
}

func (q *Grouping) Settings(r *config.Request) setting.List {
	q.Threshold = 1e-3
	correlation := setting.Range{Least: -1, Most: 1, Above: true, Text: "a correlation from above -1 to 1"}
	r.Variants = []model.Variant{model.KSoft, model.SemanticSoft}
	return append(r.DevSettings("method"),
		setting.Number("below", &q.Below, 0, correlation).In(setting.Classes).Common())
}

// Plan has the method by the full protocol.
func (q *Grouping) Plan(r *config.Request, _ *lab.Lab) (lab.Plan, error) {
	q.Base = r.Presets[0].Config
	return lab.Plan{Arms: []lab.Arm{lab.NewArm(q.Base)}, Stage: config.DevThenTest}, nil
}

// Summarise analyses the model of the first seed.
func (q *Grouping) Summarise(_ context.Context, l *lab.Lab, done *lab.Outcomes) (results.Result, error) {
	if len(done.Missing) > 0 {
		return nil, &done.Missing[0]
	}
	file := lab.ModelFiles(done.Arms[0][0].Test)[0]
	m, err := train.Load(file)
	if err != nil {
		return nil, err
	}
	return q.learned(l.Data, m, file)
}

func (q *Grouping) AskModel(d *dataset.Dataset, m *train.Saved) (results.Result, error) {
	return q.learned(d, m, "")
}

var groupsEntry = Entry{"groups", func() results.Study { return new(Grouping) }, []results.Kind{{
	Name: "groups", Title: "Learned groups", Command: "groups",
	Text: "Gamma, the share of each attribute in each learned group: how sparse it is, which pairs of " +
		"attributes share a group, and the attributes of each group by their share.",
	New: func() results.Result { return new(LearnedGroups) },
}}}

// LearnedGroups is the analysis of one model. Shares are fractions.
type LearnedGroups struct {
	Dataset    string        `json:"dataset"`
	Method     model.Variant `json:"method"`
	Attributes int           `json:"attributes"`
	GroupThresholds

	NonZero      float64 `json:"nonzero"`              // share of the entries of Gamma that are not zero
	PerAttribute float64 `json:"groups_per_attribute"` // mean number of non-zero entries per row
	Groups       []Group `json:"groups"`               // largest first

	// pairs of attributes whose rows of Gamma have a non-zero product
	Grouped   AttributePairs `json:"grouped_pairs"`
	Ungrouped AttributePairs `json:"ungrouped_pairs"` // the other pairs
	All       AttributePairs `json:"all_pairs"`

	Published *PublishedGroups `json:"published"` // null if the paper does not use this data set

	Model string `json:"model,omitempty"` // its file; missing where the command did not store one
}

// Group is a column of Gamma.
type Group struct {
	K       int      `json:"k"`       // column of Gamma, from 0
	Weight  float64  `json:"weight"`  // sum of the column
	Members []Member `json:"members"` // the non-zero entries, largest first
}

// Member is an attribute in a group.
type Member struct {
	Attribute string  `json:"attribute"`
	Weight    float64 `json:"weight"` // entry of Gamma
}

// PublishedGroups holds the paper's numbers, of the authors' k-soft model.
type PublishedGroups struct {
	NonZero float64 `json:"nonzero"`
	Grouped float64 `json:"grouped_pairs_anticorrelated"`
	All     float64 `json:"all_pairs_anticorrelated"`
	K       int     `json:"k"`
}

func (q *Grouping) learned(d *dataset.Dataset, m *train.Saved, file string) (results.Result, error) {
	lago, err := m.LAGO() // an *invalid.Error if the model is a baseline
	if err != nil {
		return nil, err
	}
	if err := m.Fits(d); err != nil {
		return nil, err
	}
	correlation, err := correlations(d)
	if err != nil {
		return nil, err
	}
	gamma := dataset.Convert[float64](lago.Params.Groups(lago.Config.Zeta))
	r := &LearnedGroups{
		GroupThresholds: q.GroupThresholds,
		Dataset:         d.Name, Method: m.Method.Variant(), Attributes: gamma.Rows, Model: file,
		Groups: groupsOf(gamma, m.Attributes, q.Threshold),
	}
	p, key := config.Published.Groups, strings.ToUpper(d.Name)
	if p.K[key] > 0 && config.IsPublished(d) {
		r.Published = &PublishedGroups{
			NonZero: p.NonZero[key] / 100, Grouped: p.GroupedAnticorrelated[key] / 100,
			All: p.AllAnticorrelated[key] / 100, K: p.K[key],
		}
	}
	members := 0.0
	for _, group := range r.Groups {
		members += float64(len(group.Members))
	}
	r.NonZero, r.PerAttribute = members/float64(len(gamma.Data)), members/float64(gamma.Rows)
	r.comparePairs(gamma, correlation)
	return r, nil
}

func groupsOf(gamma dataset.Matrix[float64], names []string, threshold float64) []Group {
	groups := make([]Group, gamma.Cols)
	for k := range groups {
		g := Group{K: k, Members: []Member{}}
		for a, name := range names {
			w := gamma.Row(a)[k]
			g.Weight += w
			if w > threshold {
				g.Members = append(g.Members, Member{name, w})
			}
		}
		slices.SortStableFunc(g.Members, func(x, y Member) int { return cmp.Compare(y.Weight, x.Weight) })
		groups[k] = g
	}
	slices.SortStableFunc(groups, func(x, y Group) int {
		return cmp.Or(cmp.Compare(len(y.Members), len(x.Members)), cmp.Compare(y.Weight, x.Weight))
	})
	return groups
}

func (r *LearnedGroups) KindName() string { return "groups" }

// Tables returns the sparsity, the pairs of attributes and the groups.
func (r *LearnedGroups) Tables() []*table.Table {
	sparsity := table.New(fmt.Sprintf("%s on %s: %s of %s\nGamma above %g: %s of the entries, %.1f "+
		"groups per attribute", r.Method, r.Dataset, format.Count(len(r.Groups), "group"),
		format.Count(r.Attributes, "attribute"), r.Threshold, format.Percent(r.NonZero), r.PerAttribute))
	pairs := table.New("", "pairs of attributes", "pairs",
		fmt.Sprintf("share with correlation below %g", r.Below), "published").Right(3, 4)
	row := func(name string, p AttributePairs, published float64) {
		share := format.Missing
		if p.Count > 0 {
			share = format.Percent(p.Anticorrelated)
		}
		pairs.Row(name, p.Count, share, format.Percent(published))
	}
	published := cmp.Or(r.Published, &PublishedGroups{Grouped: math.NaN(), All: math.NaN()})
	row("in the same group", r.Grouped, published.Grouped)
	row("in different groups", r.Ungrouped, math.NaN())
	row("all", r.All, published.All)
	if r.Grouped.Count == 0 {
		pairs.Note("No two attributes share a group.")
	}
	if r.Published != nil {
		sparsity.Note("published: %s of the entries", format.Percent(published.NonZero))
		pairs.Note("The published shares are those of the authors' k-soft model with %d groups. The paper "+
			"does not\nstate below which correlation it calls two attributes anti-correlated.", published.K)
	}
	const most = 5 // attributes of a group; --json has all
	groups := table.New("", "group", "attributes", "weight", "attributes by weight").Right(3)
	for _, group := range r.Groups {
		var names []string
		for _, m := range group.Members[:min(most, len(group.Members))] {
			weight := fmt.Sprintf(" %.2f", m.Weight)
			if weight == " 1.00" { // as all of a model with given groups
				weight = ""
			}
			names = append(names, format.AttributeName(m.Attribute)+weight)
		}
		if more := len(group.Members) - most; more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		groups.Row(group.K, len(group.Members), fmt.Sprintf("%.1f", group.Weight), strings.Join(names, ", "))
	}
	return []*table.Table{sparsity, pairs, groups}
}

func (r *LearnedGroups) Figures(string) ([]plot.Figure, error) { return nil, nil }

// AttributePairs counts pairs of attributes that have a correlation; an attribute that never varies has none.
type AttributePairs struct {
	Count          int     `json:"count"`
	Anticorrelated float64 `json:"anticorrelated"` // share, 0 without pairs
}

// correlations returns the Pearson correlation of each pair of attributes over classes, M x M. The paper
// correlates over samples for CUB and SUN, by the attributes of each image, which data sets lack.
func correlations(d *dataset.Dataset) (*mat.SymDense, error) {
	// Missing entries become the attribute's mean, which draws its correlations towards 0.
	singletons := model.Config{Variant: model.Singletons, Prior: model.PerAttribute}
	described, err := singletons.Describe(d.Descriptions, nil)
	if err != nil {
		return nil, err
	}
	var r mat.SymDense
	x := mat.NewDense(described.U.Rows, described.U.Cols, described.U.Data)
	stat.CorrelationMatrix(&r, x, nil)
	for m := range described.U.Cols {
		// Rounding gives an attribute that never varies a variance just above 0.
		if stat.Variance(mat.Col(nil, m, x), nil) < 1e-20 {
			for j := range described.U.Cols {
				r.SetSym(m, j, math.NaN())
			}
		}
	}
	return &r, nil
}

func (r *LearnedGroups) comparePairs(gamma dataset.Matrix[float64], correlation *mat.SymDense) {
	var grouped, ungrouped []float64
	for i := range gamma.Rows {
		for j := range i {
			switch c := correlation.At(i, j); {
			case math.IsNaN(c):
			case floats.Dot(gamma.Row(i), gamma.Row(j)) > r.Threshold:
				grouped = append(grouped, c)
			default:
				ungrouped = append(ungrouped, c)
			}
		}
	}
	r.Grouped, r.Ungrouped = r.count(grouped), r.count(ungrouped)
	r.All = r.count(append(grouped, ungrouped...))
}

func (r *LearnedGroups) count(correlations []float64) AttributePairs {
	p := AttributePairs{Count: len(correlations)}
	for _, c := range correlations {
		if c < r.Below {
			p.Anticorrelated += 1 / float64(p.Count)
		}
	}
	return p
}
