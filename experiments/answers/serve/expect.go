package serve

import (
	"cmp"
	"math"
	"net/http"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/impute"
)

const (
	shownDoubts = 100  // of all entries, and of drafts
	leastDoubt  = 0.25 // difference to what is expected, except of drafts
)

// expectation is what the given entries of a table say about its others, see package impute.
type expectation struct {
	Version   int              `json:"version"`   // of the table
	Described int              `json:"described"` // classes with a value
	Least     int              `json:"least"`     // classes with a value that are needed
	Order     []check.Question `json:"order"`     // groups in the order of the shortest questionnaire
	// by class that is described in part; null for given entries
	Filled map[string][]*float64 `json:"filled"`
	Doubts []doubt               `json:"doubts"` // the most doubtful entries first
}

// doubt is a given entry, and what the other entries of its class say it is.
type doubt struct {
	Class            string    `json:"class"`
	Attribute        string    `json:"attribute"`
	Value            float64   `json:"value"`
	Expected         float64   `json:"expected"`
	Draft            bool      `json:"draft"` // no person has checked it
	Similar          []similar `json:"similar"`
	class, attribute int
	deviance         float64
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
	u := t.Values()
	e := &expectation{Least: check.LeastOrdered, Filled: map[string][]*float64{}, Doubts: []doubt{}}
	for z := range u.Rows {
		if dataset.Described(u.Row(z)) > 0 {
			e.Described++
		}
	}
	if e.Described < e.Least || !impute.Together(u) {
		e.Order = check.Ask(nil, t.Groups())
		return e
	}
	g := impute.Fit(u)
	e.Order = check.Ask(g, t.Groups())
	filled := g.Fill(u)
	for z, name := range t.Classes {
		if given := dataset.Described(u.Row(z)); given == 0 || given == u.Cols {
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
	for i, d := range e.Doubts {
		e.Doubts[i].Similar = []similar{}
		for _, z := range check.SimilarClasses(u, d.class, d.attribute) {
			e.Doubts[i].Similar = append(e.Doubts[i].Similar, similar{t.Classes[z], u.Row(z)[d.attribute]})
		}
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
				class: z, attribute: m, deviance: math.Abs(p-mean) / sd.Row(z)[m],
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
