package grouping

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// Config says how groups are analysed.
type Config struct {
	By        By      `json:"by"`
	Threshold float64 `json:"threshold"`            // up to which entries of Gamma, and products of its rows, count as zero
	Below     float64 `json:"anticorrelated_below"` // the correlation below which two attributes are anti-correlated
}

// Check returns an *invalid.Error for the first field that is out of range.
func (c Config) Check() error {
	if !(c.Threshold >= 0 && c.Threshold < 1) {
		return &invalid.Error{Where: "--threshold", Want: "a number from 0 to below 1", Got: fmt.Sprint(c.Threshold)}
	}
	if !(c.Below > -1 && c.Below <= 1) {
		return &invalid.Error{Where: "--below", Want: "a correlation from above -1 to 1", Got: fmt.Sprint(c.Below)}
	}
	return nil
}

// Result is the analysis of one model. Shares are fractions.
type Result struct {
	Dataset    string        `json:"dataset"`
	Variant    model.Variant `json:"variant"`
	Attributes int           `json:"attributes"`
	Config

	NonZero      float64 `json:"nonzero"`              // share of the entries of Gamma
	PerAttribute float64 `json:"groups_per_attribute"` // mean number of non-zero entries per row
	Groups       []Group `json:"groups"`               // largest first

	Grouped   Pairs `json:"grouped_pairs"` // whose rows of Gamma have a non-zero product
	Ungrouped Pairs `json:"ungrouped_pairs"`
	All       Pairs `json:"all_pairs"`

	// Permutation compares the correlations of grouped and ungrouped pairs by permuting the
	// attributes; null if there are none of either.
	Permutation *Test `json:"permutation_test"`
	// PaperKS is the paper's Kolmogorov-Smirnov test of grouped against all pairs. Its p is
	// too small, as it treats pairs as independent. Null if no pair is grouped.
	PaperKS *Test `json:"paper_ks_test"`

	Published *Published `json:"published"` // null if the paper does not use this data set
}

// Group is a column of Gamma.
type Group struct {
	K       int      `json:"k"`
	Weight  float64  `json:"weight"`  // sum of the column
	Members []Member `json:"members"` // the non-zero entries, largest first
}

// Member is an attribute in a group.
type Member struct {
	Attribute string  `json:"attribute"`
	Weight    float64 `json:"weight"`
}

// Published holds the paper's numbers, of the authors' k-soft model.
type Published struct {
	NonZero float64 `json:"nonzero"`
	Grouped float64 `json:"grouped_pairs_anticorrelated"`
	All     float64 `json:"all_pairs_anticorrelated"`
	K       int     `json:"k"`
}

// TrainModel trains by the full protocol and returns the model of the first seed.
func TrainModel(ctx context.Context, l *lab.Lab, c protocol.Config) (*train.Saved, error) {
	c.Stage = protocol.DevThenTest
	o, err := protocol.Run(ctx, l, c)
	if err != nil {
		return nil, err
	}
	return train.Load(o.Models[0])
}

// Run analyses the groups of a model of the data set d.
func Run(d *dataset.Dataset, m *train.Saved, c Config) (*Result, error) {
	lago, err := m.LAGO("groups")
	if err != nil {
		return nil, err
	}
	if err := m.Fits(d); err != nil {
		return nil, err
	}
	gamma := lago.Params.Groups(lago.Config.Zeta)
	r := &Result{
		Dataset: d.Name, Variant: lago.Config.Variant, Attributes: gamma.Rows, Config: c,
		Groups: groupsOf(gamma, m.Attributes, c.Threshold), Published: publishedOf(d.Name),
	}
	var members int
	for _, group := range r.Groups {
		members += len(group.Members)
	}
	r.NonZero = float64(members) / float64(len(gamma.Data))
	r.PerAttribute = float64(members) / float64(gamma.Rows)

	correlation, err := correlations(d, c.By)
	if err != nil {
		return nil, err
	}
	r.comparePairs(gamma, correlation)
	return r, nil
}

// groupsOf lists the columns of Gamma, those with most members first.
func groupsOf(gamma dataset.Matrix[float32], names []string, threshold float64) []Group {
	groups := make([]Group, gamma.Cols)
	for k := range groups {
		groups[k].K = k
		groups[k].Members = []Member{}
		for a, name := range names {
			w := float64(gamma.Row(a)[k])
			groups[k].Weight += w
			if w > threshold {
				groups[k].Members = append(groups[k].Members, Member{name, w})
			}
		}
		slices.SortStableFunc(groups[k].Members, func(x, y Member) int { return cmp.Compare(y.Weight, x.Weight) })
	}
	slices.SortStableFunc(groups, func(x, y Group) int {
		return cmp.Or(cmp.Compare(len(y.Members), len(x.Members)), cmp.Compare(y.Weight, x.Weight))
	})
	return groups
}

func publishedOf(dataset string) *Published {
	p := published.All().Groups
	key := strings.ToUpper(dataset)
	if _, ok := p.K[key]; !ok {
		return nil
	}
	return &Published{
		NonZero: p.NonZero[key] / 100, Grouped: p.GroupedAnticorrelated[key] / 100, All: p.AllAnticorrelated[key] / 100, K: p.K[key],
	}
}
