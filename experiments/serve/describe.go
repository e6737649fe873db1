package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/predictor"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// state is what the page shows.
type state struct {
	Version    int                      `json:"version"`
	Name       string                   `json:"name"`
	ReadOnly   bool                     `json:"read_only"`
	Undo       bool                     `json:"undo"`
	Pictures   bool                     `json:"pictures"`
	Words      []string                 `json:"words"`
	Attributes []descriptions.Attribute `json:"attributes"`
	Classes    []class                  `json:"classes"`
	Model      *modelState              `json:"model"` // null without one
}

type class struct {
	Name    string     `json:"name"`
	Cells   []string   `json:"cells"`   // as in the file
	Values  []*float64 `json:"values"`  // what they mean; null for an empty one
	Rows    []int      `json:"rows"`    // of its samples
	Trained bool       `json:"trained"` // whether the model was trained on it
}

type modelState struct {
	Label   string   `json:"label"`
	Network bool     `json:"network"` // whether photographs can be predicted
	Unknown []string `json:"unknown"` // attributes that the model does not know
}

func (s *Server) state() *state {
	v := &state{
		Version: s.version, Name: s.Name, ReadOnly: s.ReadOnly, Undo: s.undo != nil, Pictures: catalog.HasPictures(s.pictures), Words: descriptions.Words,
		Attributes: append([]descriptions.Attribute{}, s.d.Attributes...), Classes: []class{},
	}
	rows := map[string][]int{}
	for i, name := range s.labels {
		rows[name] = append(rows[name], i)
	}
	u := s.d.Values()
	for z, name := range s.d.Classes {
		c := class{Name: name, Cells: s.d.Cells[z], Values: []*float64{}, Rows: append([]int{}, rows[name]...)}
		for _, p := range u.Row(z) {
			c.Values = append(c.Values, format.Known(p))
		}
		c.Trained = s.Model != nil && s.Model.TrainedOn(name)
		v.Classes = append(v.Classes, c)
	}
	if s.Model != nil {
		v.Model = &modelState{fmt.Sprintf("%s trained on %s", s.Model.Method.Label(), s.Model.Dataset), s.Features != nil, append([]string{}, s.unknown()...)}
	}
	return v
}

// change is a change of the descriptions: an attribute that is added, or cells of a class, which is
// added if it is new.
type change struct {
	Version   int                     `json:"version"` // that the page shows
	Attribute *descriptions.Attribute `json:"attribute"`
	Class     string                  `json:"class"`
	New       bool                    `json:"new"`
	Cells     map[string]*float64     `json:"cells"` // by attribute; null empties the cell
}

// edit makes a change, and writes the files.
func (s *Server) edit(r *http.Request) (any, error) {
	c, err := read[change](r)
	if err != nil {
		return nil, err
	}
	if err := s.writable(c.Version); err != nil {
		return nil, err
	}
	d := s.d.Clone()
	if err := c.apply(d); err != nil {
		return nil, err
	}
	return s.save(r.Context(), d, s.d)
}

// apply makes the change in d.
func (c *change) apply(d *descriptions.Table) error {
	name := strings.TrimSpace(c.Class)
	if a := c.Attribute; a != nil {
		a.Name, a.Group = strings.TrimSpace(a.Name), strings.TrimSpace(a.Group)
		grouped := len(d.Attributes) > 0 && d.Attributes[0].Group != ""
		switch {
		case badName(a.Name) || a.Name == "class":
			return &invalid.Error{Where: "attribute", Want: "a name", Got: invalid.Quote(a.Name)}
		case len(d.Attributes) > 0 && grouped != (a.Group != "") || a.Group != "" && badName(a.Group):
			return &invalid.Error{Where: "attribute " + invalid.Quote(a.Name), Want: map[bool]string{true: "a group, as the others have", false: "no group, as the others"}[grouped], Got: invalid.Quote(a.Group)}
		case !d.AddAttribute(*a):
			return &invalid.Error{Where: "attribute", Want: "a new name", Got: invalid.Quote(a.Name)}
		}
		return nil
	}
	switch {
	case badName(name):
		return &invalid.Error{Where: "class", Want: "a name", Got: invalid.Quote(c.Class)}
	case c.New && !d.AddClass(name):
		return &invalid.Error{Where: "class", Want: "a new name", Got: invalid.Quote(name)}
	}
	z := slices.Index(d.Classes, name)
	if z < 0 {
		return &invalid.Error{Where: "class", Want: "one of the data set", Got: invalid.Quote(name)}
	}
	for attribute, p := range c.Cells {
		m := d.Attribute(attribute)
		if m < 0 || p != nil && !(*p >= 0 && *p <= 1) {
			return &invalid.Error{Where: "class " + invalid.Quote(name), Want: "attributes of the data set with probabilities from 0 to 1", Got: invalid.Quote(attribute)}
		}
		cell := ""
		if p != nil {
			cell = d.Cell(*p)
		}
		d.Cells[z][m] = cell
	}
	return nil
}

func badName(name string) bool { return name == "" || len(name) > 200 || invalid.HasControl(name) }

// undoEdit takes the last change back.
func (s *Server) undoEdit(r *http.Request) (any, error) {
	c, err := read[change](r)
	if err == nil {
		err = s.writable(c.Version)
	}
	if err == nil && s.undo == nil {
		err = &refusal{http.StatusConflict, "There is nothing to undo."}
	}
	if err != nil {
		return nil, err
	}
	return s.save(r.Context(), s.undo, nil)
}

// writable returns an error unless the page may change what it shows.
func (s *Server) writable(version int) error {
	switch {
	case s.ReadOnly:
		return &refusal{http.StatusForbidden, "The descriptions are only read here: with --read-only, or since they are not CSV files."}
	case version != s.version:
		return &refusal{http.StatusConflict, "The descriptions have changed in another window. Nothing was overwritten; the page now shows them."}
	}
	return nil
}

// save writes new descriptions; undo are those before them. If another program has changed a file, it
// is read again instead.
func (s *Server) save(ctx context.Context, d, undo *descriptions.Table) (any, error) {
	err := d.Save()
	if errors.Is(err, descriptions.ErrChanged) {
		fresh, failed := openlayout.ReadDescriptions(ctx, s.Dir)
		if failed == nil {
			s.d, s.undo = fresh, nil
			s.version++
		}
		err = cmp.Or(failed, err)
	}
	if err != nil {
		return nil, err
	}
	s.d, s.undo = d, undo
	s.version++
	return s.state(), nil
}

// shownPairs is the number of pairs that the page lists at most, and shownAttributes that of the
// attributes of a pair.
const (
	shownPairs      = 30
	shownAttributes = 5
)

// check finds what is wrong with the descriptions.
func (s *Server) check() check.Descriptions {
	d := check.Describe(s.d)
	d.Pairs = d.Pairs[:min(len(d.Pairs), shownPairs)]
	for i, p := range d.Pairs {
		d.Pairs[i].Missing = p.Missing[:min(len(p.Missing), shownAttributes)]
		d.Pairs[i].Differ = p.Differ[:min(len(p.Differ), shownAttributes)]
	}
	return d
}

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
