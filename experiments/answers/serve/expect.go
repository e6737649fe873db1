package serve

import (
	"cmp"
	"math"
	"net/http"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/impute"
)

const (
	leastDescribed = 10        // classes, from which on the others can be expected to be like them
	mostExpected   = 1_000_000 // entries of a table
	shownDoubts    = 100       // of all entries, and of drafts
	shownSimilar   = 3         // classes
	leastDoubt     = 0.25      // difference to what is expected, except of drafts
)

// expectation is what the given entries of a table say about its others, see package impute.
type expectation struct {
	Version   int     `json:"version"`   // of the table
	Described int     `json:"described"` // classes with a value
	Least     int     `json:"least"`     // classes with a value that are needed
	Order     []asked `json:"order"`
	// by class that is described in part; null for given entries
	Filled map[string][]*float64 `json:"filled"`
	Doubts []doubt               `json:"doubts"` // the most doubtful entries first
}

// asked is a group in the order of the shortest questionnaire.
type asked struct {
	Group string `json:"group"`
	// Explained is the share of the variance of all entries that it and those before it explain; null in the
	// order of the file.
	Explained *float64 `json:"explained"`
}

// doubt is a given entry, and what the other entries of its class say it is.
type doubt struct {
	Class     string    `json:"class"`
	Attribute string    `json:"attribute"`
	Value     float64   `json:"value"`
	Expected  float64   `json:"expected"`
	Draft     bool      `json:"draft"` // no person has checked it
	Similar   []similar `json:"similar"`
	class, at int
	deviance  float64
}

// similar is a class with a similar description, and its value.
type similar struct {
	Class string  `json:"class"`
	Value float64 `json:"value"`
}

// expect answers with the expectation of the table as it is now. It is computed once for each version, and no
// other request waits for it.
func (s *Server) expect(_ *http.Request, _ []byte) (any, error) {
	s.expecting.Lock()
	defer s.expecting.Unlock()
	t, _, version := s.now()
	if s.expected == nil || s.expected.Version != version {
		s.expected = expectationOf(t)
		s.expected.Version = version
	}
	return s.expected, nil
}

func expectationOf(t *descriptions.Table) *expectation {
	u, groups := t.Values(), t.Groups()
	e := &expectation{
		Least: leastDescribed, Order: []asked{}, Filled: map[string][]*float64{}, Doubts: []doubt{},
	}
	sets := make([][]int, len(groups))
	for k, g := range groups {
		sets[k] = g.Members
		e.Order = append(e.Order, asked{Group: g.Name})
	}
	given := make([]int, u.Rows)
	for z := range u.Rows {
		for _, p := range u.Row(z) {
			if !math.IsNaN(p) {
				given[z]++
			}
		}
		if given[z] > 0 {
			e.Described++
		}
	}
	if e.Described < leastDescribed || len(u.Data) > mostExpected {
		return e
	}
	g := impute.Fit(u)
	for i, q := range g.Order(sets) {
		e.Order[i] = asked{groups[q.Index].Name, &q.Explained}
	}
	filled := g.Fill(u)
	for z, name := range t.Classes {
		if given[z] == 0 || given[z] == u.Cols {
			continue
		}
		cells := make([]*float64, u.Cols)
		for m, p := range u.Row(z) {
			if math.IsNaN(p) {
				cells[m] = new(math.Round(100*filled.Row(z)[m]) / 100)
			}
		}
		e.Filled[name] = cells
	}
	e.Doubts = doubtsOf(t, g, u)
	for i := range e.Doubts {
		e.Doubts[i].Similar = similarOf(t, u, filled, e.Doubts[i])
	}
	return e
}

// doubtsOf lists the most doubtful entries, by the difference to what is expected in standard deviations, and
// of drafts as many.
func doubtsOf(t *descriptions.Table, g *impute.Gaussian, u dataset.Matrix[float64]) []doubt {
	expected, sd := g.Expected(u)
	list := []doubt{}
	for z, class := range t.Classes {
		for m, p := range u.Row(z) {
			a, mean := t.Attributes[m], expected.Row(z)[m]
			draft := t.Drafts[descriptions.Draft{Class: class, Group: a.Group}]
			if math.IsNaN(p) || math.Abs(p-mean) < leastDoubt && !draft {
				continue
			}
			list = append(list, doubt{
				Class: class, Attribute: a.Name, Value: p, Expected: mean, Draft: draft,
				class: z, at: m, deviance: math.Abs(p-mean) / sd.Row(z)[m],
			})
		}
	}
	slices.SortStableFunc(list, func(a, b doubt) int { return cmp.Compare(b.deviance, a.deviance) })
	all, drafts := 0, 0
	return slices.DeleteFunc(list, func(d doubt) bool {
		all++
		if d.Draft {
			drafts++
		}
		return all > shownDoubts && (!d.Draft || drafts > shownDoubts)
	})
}

// similarOf lists the classes with the most similar descriptions of those that have a value for an entry.
func similarOf(t *descriptions.Table, u, filled dataset.Matrix[float64], d doubt) []similar {
	others, distance := []int{}, make([]float64, u.Rows)
	for z := range u.Rows {
		if z == d.class || math.IsNaN(u.Row(z)[d.at]) {
			continue
		}
		others = append(others, z)
		for m, p := range filled.Row(z) {
			if m != d.at {
				distance[z] += math.Pow(p-filled.Row(d.class)[m], 2)
			}
		}
	}
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(distance[a], distance[b]) })
	list := []similar{}
	for _, z := range others[:min(len(others), shownSimilar)] {
		list = append(list, similar{t.Classes[z], u.Row(z)[d.at]})
	}
	return list
}
