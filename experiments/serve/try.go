package serve

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/predictor"
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

const mostLikely = 5 // classes listed with their probability

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
	Predicted string                  `json:"predicted"`
	Sentence  string                  `json:"sentence"`
	Against   string                  `json:"against"`
	Label     *string                 `json:"label"` // null if it is not known
	Classes   int                     `json:"classes"`
	Likely    []predictor.Probability `json:"likely"`
	Groups    []contribution          `json:"groups"` // by size
	LogOdds   float64                 `json:"log_odds"`
}

type contribution struct {
	Group   string  `json:"group"`
	LogOdds float64 `json:"log_odds"`
}

// predict answers a question.
func (s *Server) predict(r *http.Request) (any, error) {
	q, err := read[question](r)
	if err != nil {
		return nil, err
	}
	if s.Model == nil {
		return nil, &refusal{http.StatusConflict, "There is no model: lago-train serve " + s.Name + " --model latest."}
	}
	x, row, label := dataset.Matrix[float32]{Rows: 1, Cols: len(s.photo), Data: s.photo}, 0, (*string)(nil)
	switch {
	case q.Sample != nil:
		if x, err = s.x(); err != nil {
			return nil, err
		}
		if row = *q.Sample; row < 0 || row >= min(x.Rows, len(s.labels)) {
			return nil, &invalid.Error{Where: "sample", Want: "the index of one of " + format.Count(len(s.labels), "sample"), Got: fmt.Sprint(row)}
		}
		label = &s.labels[row]
	case s.photo == nil:
		return nil, &invalid.Error{Where: "request", Want: "a sample or a photograph", Got: "none"}
	}
	if err := s.Model.CheckDims("features of "+s.Name, x.Cols); err != nil {
		return nil, err
	}
	candidates, err := s.candidates(q)
	if err != nil {
		return nil, err
	}
	p, err := s.Model.Predictor(candidates, predictor.Options{})
	if err != nil {
		return nil, err
	}
	a, err := p.Answer(x, row)
	if err != nil {
		return nil, err
	}
	others, err := a.Others(q.Against, label)
	if err != nil {
		return nil, err
	}
	c, err := a.Compare(others[0])
	if err != nil {
		return nil, err
	}
	found := &answer{Predicted: c.Class, Sentence: c.Sentence(), Against: c.Against, Label: label, Classes: len(a.Order), Likely: a.Likely(mostLikely), LogOdds: c.LogOdds}
	for _, g := range c.Groups {
		found.Groups = append(found.Groups, contribution{g.Name, g.Contribution})
	}
	if c.Correction != 0 {
		found.Groups = append(found.Groups, contribution{"correction", c.Correction})
	}
	return found, nil
}

// candidates returns the described classes that a question chooses from, by the attributes of the
// model: what the data set lacks is missing.
func (s *Server) candidates(q question) (c predictor.Candidates, err error) {
	d := s.d.Clone()
	for _, edit := range q.Change {
		if err := edit.apply(d); err != nil {
			return c, err
		}
	}
	place := make([]int, len(s.Model.Attributes)) // of the model's attributes in the data set
	for m, name := range s.Model.Attributes {
		place[m] = d.Attribute(name)
	}
	c.What = "described classes"
	u := d.Values()
	for z, name := range d.Classes {
		if slices.Contains(q.Remove, name) || q.Unseen && s.Model.TrainedOn(name) || strings.TrimSpace(strings.Join(d.Cells[z], "")) == "" {
			continue
		}
		c.Names = append(c.Names, name)
		for _, m := range place {
			p := math.NaN()
			if m >= 0 {
				p = u.Row(z)[m]
			}
			c.U.Data = append(c.U.Data, p)
		}
	}
	c.U.Rows, c.U.Cols = len(c.Names), len(s.Model.Attributes)
	return c, nil
}
