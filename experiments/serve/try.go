package serve

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/experiments/explain"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// unknown returns the attributes of the data set that the model does not know.
func (s *Server) unknown() (names []string) {
	for _, a := range s.d.Attributes {
		if !slices.Contains(s.Model.Attributes, a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

// photograph computes the features of the photograph that the request contains.
func (s *Server) photograph(r *http.Request) (any, error) {
	if s.Model == nil || s.Features == nil {
		return nil, &refusal{http.StatusConflict, "Photographs need a model and a network: lago-train serve " + s.Name + " --model latest --weights FILE."}
	}
	name := r.URL.Query().Get("name")
	if name == "" || len(name) > 255 || invalid.HasControl(name) {
		name = "photograph"
	}
	content, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxPhotograph))
	if err != nil {
		return nil, err
	}
	s.mu.Lock() // the network computes one photograph at a time
	defer s.mu.Unlock()
	x, err := s.Features(r.Context(), name, content)
	if err != nil {
		return nil, err
	}
	s.photo, s.names = x, name
	return map[string]string{"name": name}, nil
}

// question asks what a sample, or the last photograph, is predicted as.
type question struct {
	Sample  *int     `json:"sample"` // null for the photograph
	Unseen  bool     `json:"unseen"` // only classes that the model was not trained on
	Remove  []string `json:"remove"` // classes not to choose from
	Against string   `json:"against"`
	// Change replaces the cells of classes, which may be new, for this prediction alone.
	Change []change `json:"change"`
}

// answer is a prediction and its explanation.
type answer struct {
	Predicted string                `json:"predicted"`
	Sentence  string                `json:"sentence"`
	Against   string                `json:"against"`
	Label     *string               `json:"label"` // null if it is not known
	Classes   int                   `json:"classes"`
	Likely    []explain.Probability `json:"likely"`
	Groups    []contribution        `json:"groups"` // by size
	LogOdds   float64               `json:"log_odds"`
}

type contribution struct {
	Group   string  `json:"group"`
	LogOdds float64 `json:"log_odds"`
}

// predict answers a question, as explain does.
func (s *Server) predict(r *http.Request) (any, error) {
	q, err := read[question](r)
	if err != nil {
		return nil, err
	}
	if s.Model == nil {
		return nil, &refusal{http.StatusConflict, "There is no model: lago-train serve " + s.Name + " --model latest."}
	}
	e := explain.Question{X: dataset.Matrix[float32]{Rows: 1, Cols: len(s.photo), Data: s.photo}, Against: q.Against, Sample: explain.Sample{ID: s.names}, Brief: true}
	switch {
	case q.Sample != nil:
		if e.X, err = s.x(); err != nil {
			return nil, err
		}
		if e.Row = *q.Sample; e.Row < 0 || e.Row >= min(e.X.Rows, len(s.labels)) {
			return nil, &invalid.Error{Where: "sample", Want: "the index of one of " + format.Count(len(s.labels), "sample"), Got: fmt.Sprint(e.Row)}
		}
		e.Sample = explain.Sample{Index: e.Row, From: s.Name, Label: &s.labels[e.Row]}
	case s.photo == nil:
		return nil, &invalid.Error{Where: "request", Want: "a sample or a photograph", Got: "none"}
	}
	if e.X.Cols != s.Model.Dims {
		return nil, &invalid.Error{Where: "--model", Want: fmt.Sprintf("a model of %d features", e.X.Cols), Got: fmt.Sprintf("one of %d", s.Model.Dims)}
	}
	if e.Candidates, err = s.candidates(q); err != nil {
		return nil, err
	}
	result, err := explain.Explain(s.Model, e)
	if err != nil {
		return nil, err
	}
	c := result.Comparisons[0]
	a := &answer{Predicted: result.Predicted, Sentence: result.Sentence(), Against: c.Against, Label: e.Sample.Label, Classes: result.Classes, Likely: result.Likely, LogOdds: c.LogOdds}
	for _, g := range c.Groups {
		a.Groups = append(a.Groups, contribution{g.Name, g.Contribution})
	}
	if c.Correction != 0 {
		a.Groups = append(a.Groups, contribution{"correction", c.Correction})
	}
	return a, nil
}

// candidates returns the described classes that a question chooses from, by the attributes of the
// model: what the data set lacks is missing.
func (s *Server) candidates(q question) (set candidates.Set, err error) {
	d := s.d.Clone()
	for _, c := range q.Change {
		if err := c.apply(d); err != nil {
			return set, err
		}
	}
	place := make([]int, len(s.Model.Attributes)) // of the model's attributes in the data set
	for m, name := range s.Model.Attributes {
		place[m] = d.Attribute(name)
	}
	set.What = "described classes"
	u := d.Values()
	for z, name := range d.Classes {
		if slices.Contains(q.Remove, name) || q.Unseen && s.Model.TrainedOn(name) || strings.TrimSpace(strings.Join(d.Cells[z], "")) == "" {
			continue
		}
		set.Names = append(set.Names, name)
		for _, m := range place {
			p := math.NaN()
			if m >= 0 {
				p = u.Row(z)[m]
			}
			set.U.Data = append(set.U.Data, p)
		}
	}
	set.U.Rows, set.U.Cols = len(set.Names), len(s.Model.Attributes)
	return set, nil
}
