package serve

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/answers/predictor/render"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

func (s *Server) unknown(d *descriptions.Table) (names []string) {
	for _, a := range d.Attributes {
		if !slices.Contains(s.Model.Attributes, a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

func (s *Server) photograph(r *http.Request, content []byte) (any, error) {
	if s.Model == nil || s.Features == nil {
		return nil, &refusal{
			http.StatusConflict,
			"Photographs need a model and a network: lago-train serve " + s.Name +
				" --model latest --weights FILE.",
		}
	}
	name := r.URL.Query().Get("name")
	if _, want := dataset.CheckName(name); want != "" {
		name = "photograph"
	}
	done, err := s.busy(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	x, err := s.Features(r.Context(), name, content)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.photo = x
	return map[string]string{"name": name}, nil
}

type question struct {
	Sample *int     `json:"sample"` // null for the photograph
	Unseen bool     `json:"unseen"` // only classes that the model was not trained on
	Remove []string `json:"remove"` // classes not to choose from
	// Change replaces the cells of classes, which may be new, for this prediction alone.
	Change []change `json:"change"`
}

type answer struct {
	Predicted string `json:"predicted"`
	Sentence  string `json:"sentence"`
	// how much of the descriptions was given; "" if all was
	Given     string   `json:"given"`
	Zero      bool     `json:"zero"`         // the features of the sample are all 0
	Fit       *float64 `json:"fit"`          // null if the model has none
	Fits      string   `json:"fit_sentence"` // "" without fit
	Against   string   `json:"against"`
	Label     *string  `json:"label"`     // null if it is not known
	Candidate bool     `json:"candidate"` // whether the label is one
	Classes   int      `json:"classes"`   // candidates
	// classes that are none, since they are not described
	Bare    int                     `json:"bare"`
	Likely  []predictor.Probability `json:"likely"`
	Percent []string                `json:"percent"` // of these
	// by size, all others together, and the correction: they add up to log_odds
	Groups  []contribution `json:"groups"`
	LogOdds float64        `json:"log_odds"`
}

type contribution struct {
	Group   string  `json:"group"`
	Reason  string  `json:"reason"` // what in the group favours a class, and how it was detected; can be ""
	LogOdds float64 `json:"log_odds"`
}

func (s *Server) predict(r *http.Request, body []byte) (any, error) {
	q, err := read[question](body)
	switch {
	case err != nil:
		return nil, err
	case s.Model == nil:
		return nil, &refusal{
			http.StatusConflict, "There is no model: lago-train serve " + s.Name + " --model latest.",
		}
	case len(q.Change) > maxTried:
		return nil, &invalid.Error{
			Where: "change", Want: fmt.Sprintf("at most %d classes", maxTried),
			Got: fmt.Sprint(len(q.Change)),
		}
	}
	done, err := s.busy(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	s.mu.Lock()
	d, photo := s.d, s.photo
	s.mu.Unlock()
	x, row, label := dataset.Matrix[float32]{Rows: 1, Cols: len(photo), Data: photo}, 0, (*string)(nil)
	switch {
	case q.Sample != nil:
		if x, err = s.x(); err != nil {
			return nil, err
		}
		if row = *q.Sample; row < 0 || row >= min(x.Rows, len(s.labels)) {
			return nil, &invalid.Error{
				Where: "sample", Want: "the index of one of " + format.Count(len(s.labels), "sample"),
				Got: fmt.Sprint(row),
			}
		}
		label = &s.labels[row]
	case photo == nil:
		return nil, &invalid.Error{Where: "request", Want: "a sample or a photograph", Got: "none"}
	}
	if err := s.Model.CheckDims("features of "+s.Name, x.Cols); err != nil {
		return nil, err
	}
	candidates, bare, err := s.candidates(d, q)
	if err != nil {
		return nil, err
	}
	p, err := s.Model.Predictor(candidates, predictor.Options{})
	if err != nil {
		return nil, err
	}
	e, err := predictor.Explain(predictor.Question{
		Predictor: p, Sample: predictor.Sample{Label: label}, X: x, Row: row,
	})
	if err != nil {
		return nil, err
	}
	c := &e.Comparisons[0]
	found := &answer{
		Predicted: c.Class, Sentence: render.Sentence(c, render.ShownGroups), Given: render.GivenSentence(c),
		Fit: e.Fit, Fits: render.FitSentence(e.Fit), Against: c.Against, Label: label, Classes: e.Classes,
		Candidate: e.Label != nil, Zero: predictor.IsZero(x.Row(row)), Bare: bare, Likely: e.Likely,
		LogOdds: c.LogOdds,
	}
	for _, l := range e.Likely {
		found.Percent = append(found.Percent, format.Percent(l.P))
	}
	for _, part := range render.Parts(c, render.ShownGroups) {
		found.Groups = append(found.Groups, contribution{part.Name, part.Why(), part.LogOdds})
	}
	return found, nil
}

// candidates returns the classes of d that a question chooses from, with its changes and by the
// attributes of the model: what the data set lacks is missing. It counts those that are not described.
func (s *Server) candidates(d *descriptions.Table, q question) (c predictor.Candidates, bare int, err error) {
	changed := newEdited(d)
	for _, change := range q.Change {
		if err := changed.apply(change); err != nil {
			return c, 0, err
		}
	}
	view, _ := s.Model.Described(changed.Table)
	c.What = "described classes"
	var rows []int
	for z, name := range view.Classes {
		switch {
		case slices.Contains(q.Remove, name), q.Unseen && s.Model.TrainedOn(name):
		case dataset.Described(view.Descriptions.Row(z)) == 0:
			bare++
		default:
			c.Names, rows = append(c.Names, name), append(rows, z)
		}
	}
	c.U = view.Descriptions.Gather(rows)
	return c, bare, nil
}

const (
	shownDoubts = 100  // of all entries, and of drafts
	leastDoubt  = 0.25 // difference to what is expected, except of drafts
)

type expectation struct {
	Version   int              `json:"version"`   // of the table
	Described int              `json:"described"` // classes with a value
	Least     int              `json:"least"`     // classes with a value that are needed
	Order     []check.Question `json:"order"`     // groups in the order of the shortest questionnaire
	// by class that is described in part; null for given entries
	Filled map[string][]*float64 `json:"filled"`
	Doubts []doubt               `json:"doubts"` // the most doubtful entries first
}

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
