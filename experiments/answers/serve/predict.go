package serve

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/answers/predictor/render"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// unknown returns the attributes of the data set that the model does not know.
func (s *Server) unknown(d *descriptions.Table) (names []string) {
	for _, a := range d.Attributes {
		if !slices.Contains(s.Model.Attributes, a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

// photograph computes the features of the photograph that the request contains.
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

// question asks what a sample, or the last photograph, is predicted as.
type question struct {
	Sample *int     `json:"sample"` // null for the photograph
	Unseen bool     `json:"unseen"` // only classes that the model was not trained on
	Remove []string `json:"remove"` // classes not to choose from
	// Change replaces the cells of classes, which may be new, for this prediction alone.
	Change []change `json:"change"`
}

// answer is a prediction and its explanation.
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
	Bare   int                     `json:"bare"`
	Likely []predictor.Probability `json:"likely"`
	// by size, all others together, and the correction: they add up to log_odds
	Groups  []contribution `json:"groups"`
	LogOdds float64        `json:"log_odds"`
}

type contribution struct {
	Group   string  `json:"group"`
	Reason  string  `json:"reason"` // what in the group favours a class, and how it was detected; can be ""
	LogOdds float64 `json:"log_odds"`
}

// predict answers a question.
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
