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
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// GroupsConfig says how the groups of a model are looked at.
type Config struct {
	By        By      `json:"by"`
	Threshold float64 `json:"threshold"`            // above which an entry of Gamma, or a product of its rows, is not zero
	Below     float64 `json:"anticorrelated_below"` // the correlation below which two attributes are anti-correlated
}

// Check returns an error for the first field that nothing can be looked at with.
func (c Config) Check() error {
	if !(c.Threshold >= 0 && c.Threshold < 1) {
		return fmt.Errorf("threshold: expected a number from 0 to below 1, found %g", c.Threshold)
	}
	if !(c.Below > -1 && c.Below <= 1) {
		return fmt.Errorf("below: expected a correlation from above -1 to 1, found %g", c.Below)
	}
	return nil
}

// GroupAnalysis is what the paper says of the groups that a soft model learned
// (section 4.3, supplement A "Learned soft-group assignments"). Shares are fractions.
type Result struct {
	Dataset    string        `json:"dataset"`
	Variant    model.Variant `json:"variant"`
	Attributes int           `json:"attributes"`
	Config

	NonZero      float64 `json:"nonzero"`              // share of the entries of Gamma
	PerAttribute float64 `json:"groups_per_attribute"` // mean number of non-zero entries of a row
	Groups       []Group `json:"groups"`               // the largest first

	Grouped Pairs   `json:"grouped_pairs"` // whose rows of Gamma have a product that is not zero
	All     Pairs   `json:"all_pairs"`
	KS      *KSTest `json:"ks"` // of the correlations of both; null where no pair is grouped

	Published *PublishedGroups `json:"published"` // null where the paper has not this data set
}

// Group is a column of Gamma.
type Group struct {
	K       int      `json:"k"`
	Weight  float64  `json:"weight"`  // sum of the column
	Members []Member `json:"members"` // by weight, without those that are zero
}

// Member is how far an attribute belongs to a group.
type Member struct {
	Attribute string  `json:"attribute"`
	Weight    float64 `json:"weight"`
}

// PublishedGroups is the same of the authors' k-soft model.
type PublishedGroups struct {
	NonZero float64 `json:"nonzero"`
	Grouped float64 `json:"grouped_pairs_anticorrelated"`
	All     float64 `json:"all_pairs_anticorrelated"`
	K       int     `json:"k"`
}

// TrainModel carries out the full protocol for c and returns the model of its first
// seed.
func TrainModel(ctx context.Context, l *lab.Lab, c protocol.Config) (*train.Saved, error) {
	c.Stage = protocol.DevThenTest
	o, err := protocol.Run(ctx, l, c)
	if err != nil {
		return nil, err
	}
	return train.Load(o.ModelPaths(l)[0])
}

// LookAtGroups describes the grouping of a model of the data set d.
func Run(d *dataset.Dataset, m *train.Saved, c Config) (*Result, error) {
	lago, err := m.LAGO("groups")
	if err != nil {
		return nil, err
	}
	if err := m.Fits(d); err != nil {
		return nil, fmt.Errorf("groups: %w", err)
	}
	gamma := lago.Params.Groups(lago.Config.Zeta)
	g := &Result{
		Dataset: d.Name, Variant: lago.Config.Variant, Attributes: gamma.Rows, Config: c,
		Groups: groupsOf(gamma, m.Attributes, c.Threshold), Published: publishedGroups(d.Name),
	}
	var members int
	for _, group := range g.Groups {
		members += len(group.Members)
	}
	g.NonZero = float64(members) / float64(len(gamma.Data))
	g.PerAttribute = float64(members) / float64(gamma.Rows)

	r, err := correlations(d, c.By)
	if err != nil {
		return nil, err
	}
	g.pairs(gamma, r)
	return g, nil
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

func publishedGroups(dataset string) *PublishedGroups {
	p := published.All().Groups
	key := strings.ToUpper(dataset)
	if _, ok := p.K[key]; !ok {
		return nil
	}
	return &PublishedGroups{
		NonZero: p.NonZero[key] / 100, Grouped: p.GroupedAnticorrelated[key] / 100, All: p.AllAnticorrelated[key] / 100, K: p.K[key],
	}
}
