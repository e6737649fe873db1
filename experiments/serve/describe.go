package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	ReadOnly   string                   `json:"read_only"` // why, "" if changes are written
	Undo       int                      `json:"undo"`      // changes that can be taken back
	Pictures   bool                     `json:"pictures"`
	Words      []string                 `json:"words"`
	Attributes []descriptions.Attribute `json:"attributes"`
	Classes    []class                  `json:"classes"`
	Model      *modelState              `json:"model"` // null without one
}

type class struct {
	Name    string     `json:"name"`
	Values  []*float64 `json:"values"`  // null for an empty cell
	Drafts  []string   `json:"drafts"`  // groups that no person has checked
	Rows    []int      `json:"rows"`    // of its samples
	Trained bool       `json:"trained"` // whether the model was trained on it
}

type modelState struct {
	Label   string   `json:"label"`
	Network bool     `json:"network"` // whether photographs can be predicted
	Predict string   `json:"predict"` // the command that predicts with the classes of classes.csv
	Unknown []string `json:"unknown"` // attributes that the model does not know
}

// now returns the descriptions that the page has, which are not changed.
func (s *Server) now() (d *descriptions.Table, undo, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.d, len(s.undo), s.version
}

func (s *Server) state() *state {
	d, undo, version := s.now()
	v := &state{
		Version: version, Name: s.Name, ReadOnly: s.readOnly, Undo: undo, Pictures: catalog.HasPictures(s.pictures), Words: descriptions.Words,
		Attributes: append([]descriptions.Attribute{}, d.Attributes...), Classes: []class{},
	}
	drafts := map[string][]string{}
	for _, draft := range slices.SortedFunc(maps.Keys(d.Drafts), func(a, b descriptions.Draft) int { return strings.Compare(a.Group, b.Group) }) {
		drafts[draft.Class] = append(drafts[draft.Class], draft.Group)
	}
	rows := map[string][]int{}
	for i, name := range s.labels {
		rows[name] = append(rows[name], i)
	}
	u := d.Values()
	for z, name := range d.Classes {
		c := class{Name: name, Values: []*float64{}, Drafts: append([]string{}, drafts[name]...), Rows: append([]int{}, rows[name]...)}
		for _, p := range u.Row(z) {
			c.Values = append(c.Values, format.Known(p))
		}
		c.Trained = s.Model != nil && s.Model.TrainedOn(name)
		v.Classes = append(v.Classes, c)
	}
	if s.Model != nil {
		v.Model = &modelState{fmt.Sprintf("%s trained on %s", s.Model.Method.Label(), s.Model.Dataset), s.Features != nil, "lago-train predict --model " + s.Model.Dir() + " --images PHOTOGRAPHS --weights FILE", append([]string{}, s.unknown(d)...)}
	}
	return v
}

// edit is changes that are made together.
type edit struct {
	Version int      `json:"version"` // that the page shows
	Changes []change `json:"changes"`
}

// change is an attribute that is added, or a change of a class, which is added if it is new.
type change struct {
	Attribute *descriptions.Attribute `json:"attribute"`
	Class     string                  `json:"class"`
	New       bool                    `json:"new"`
	Rename    string                  `json:"rename"` // its new name
	Delete    bool                    `json:"delete"`
	Cells     map[string]*float64     `json:"cells"`   // by attribute; null empties the cell
	Checked   []string                `json:"checked"` // groups that are no drafts any more
}

// edit makes changes, and writes the files.
func (s *Server) edit(r *http.Request, body []byte) (any, error) {
	err := s.save(r.Context(), body, func(e edit) (d *descriptions.Table, undo []*descriptions.Table, err error) {
		d = s.d.Clone()
		scale := d.Scale()
		for _, c := range e.Changes {
			if c.Class = strings.TrimSpace(c.Class); c.Rename != "" || c.Delete {
				err = s.mayRename(r.Context(), c.Class)
			}
			if err == nil {
				err = c.apply(d, scale)
			}
			if err != nil {
				return nil, nil, err
			}
		}
		return d, append(s.undo, s.d), nil
	})
	return s.state(), err
}

// mayRename refuses to rename or delete a class that other files than those of the descriptions name.
func (s *Server) mayRename(ctx context.Context, class string) error {
	if slices.Contains(s.labels, class) {
		return &refusal{http.StatusConflict, class + " has samples, whose class is in labels.csv: rename or remove the folder of its photographs, and extract again."}
	}
	split, err := openlayout.SplitClasses(ctx, s.Dir)
	if slices.Contains(split, class) {
		err = &refusal{http.StatusConflict, class + " is in splits.csv: remove its line there first."}
	}
	return err
}

// apply makes the change in d.
func (c *change) apply(d *descriptions.Table, cell func(p float64) string) error {
	if c.Attribute != nil {
		return addAttribute(d, *c.Attribute)
	}
	name := strings.TrimSpace(c.Class)
	isNew := func(name string, but int) error {
		switch z := d.Finder()(name); {
		case badName(name):
			return &invalid.Error{Where: "class", Want: goodName, Got: invalid.Quote(name)}
		case z >= 0 && z != but:
			return &invalid.Error{Where: "class", Want: "a new name", Got: invalid.Quote(name), Hint: "There is " + d.Classes[z] + "."}
		}
		return nil
	}
	if c.New {
		if err := isNew(name, -1); err != nil {
			return err
		}
		d.AddClass(name)
	}
	z := slices.Index(d.Classes, name)
	if z < 0 {
		return &invalid.Error{Where: "class", Want: "one of the data set", Got: invalid.Quote(name)}
	}
	for attribute, p := range c.Cells {
		m := d.Attribute(attribute)
		switch {
		case m < 0 || p != nil && !(*p >= 0 && *p <= 1):
			return &invalid.Error{Where: "class " + invalid.Quote(name), Want: "attributes of the data set with probabilities from 0 to 1", Got: invalid.Quote(attribute)}
		case p == nil:
			d.Set(z, m, "")
		default:
			d.Set(z, m, cell(*p))
		}
	}
	for _, group := range c.Checked {
		d.SetDraft(descriptions.Draft{Class: name, Group: group}, false)
	}
	switch rename := strings.TrimSpace(c.Rename); {
	case c.Delete:
		d.RenameClass(z, "")
	case c.Rename != "":
		if err := isNew(rename, z); err != nil {
			return err
		}
		d.RenameClass(z, rename)
	}
	return nil
}

func addAttribute(d *descriptions.Table, a descriptions.Attribute) error {
	a.Name, a.Group = strings.TrimSpace(a.Name), strings.TrimSpace(a.Group)
	grouped := len(d.Attributes) > 0 && d.Attributes[0].Group != ""
	switch {
	case badName(a.Name) || a.Name == "class":
		return &invalid.Error{Where: "attribute", Want: goodName, Got: invalid.Quote(a.Name)}
	case len(d.Attributes) > 0 && grouped != (a.Group != "") || a.Group != "" && badName(a.Group):
		return &invalid.Error{Where: "attribute " + invalid.Quote(a.Name), Want: map[bool]string{true: "a group, as the others have", false: "no group, as the others"}[grouped], Got: invalid.Quote(a.Group)}
	case !d.AddAttribute(a):
		return &invalid.Error{Where: "attribute", Want: "a new name", Got: invalid.Quote(a.Name)}
	}
	return nil
}

const goodName = "a name of at most 200 bytes, without control characters"

func badName(name string) bool { return name == "" || len(name) > 200 || invalid.HasControl(name) }

// undoEdit takes the last change back.
func (s *Server) undoEdit(r *http.Request, body []byte) (any, error) {
	err := s.save(r.Context(), body, func(edit) (d *descriptions.Table, undo []*descriptions.Table, err error) {
		last := len(s.undo) - 1
		if last < 0 {
			return nil, nil, &refusal{http.StatusConflict, "There is nothing to undo."}
		}
		return s.undo[last], s.undo[:last], nil
	})
	return s.state(), err
}

// save writes the descriptions that make returns; undo are those before each change since the page was
// opened. If another program has changed a file, it is read again instead.
func (s *Server) save(ctx context.Context, body []byte, make func(edit) (d *descriptions.Table, undo []*descriptions.Table, err error)) error {
	e, err := read[edit](body)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.readOnly != "":
		return &refusal{http.StatusForbidden, s.readOnly}
	case e.Version != s.version:
		return &refusal{http.StatusConflict, "The descriptions have changed in another window. Nothing was overwritten; the page now shows them."}
	}
	d, undo, err := make(e)
	if err == nil {
		err = d.Save()
	}
	if errors.Is(err, descriptions.ErrChanged) {
		fresh, failed := openlayout.ReadDescriptions(ctx, s.Dir)
		if failed != nil {
			return failed
		}
		d, undo = fresh, nil
	} else if err != nil {
		return err
	}
	s.d, s.undo = d, undo
	s.version++
	return err
}

// order finds the order in which the groups should be described.
func (s *Server) order(r *http.Request, _ []byte) (any, error) {
	done, err := s.busy(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	table, _, _ := s.now()
	return check.Describing(table), nil
}

// shownPairs is the number of pairs that the page lists at most, and shownAttributes that of the
// attributes of a pair.
const (
	shownPairs      = 30
	shownAttributes = 5
)

// check finds what is wrong with the descriptions.
func (s *Server) check(r *http.Request, _ []byte) (any, error) {
	done, err := s.busy(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	table, _, _ := s.now()
	d := check.Describe(table)
	d.Pairs = d.Pairs[:min(len(d.Pairs), shownPairs)]
	for i, p := range d.Pairs {
		d.Pairs[i].Missing = p.Missing[:min(len(p.Missing), shownAttributes)]
		d.Pairs[i].Differ = p.Differ[:min(len(p.Differ), shownAttributes)]
	}
	return d, nil
}

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
		return nil, &refusal{http.StatusConflict, "Photographs need a model and a network: lago-train serve " + s.Name + " --model latest --weights FILE."}
	}
	name := r.URL.Query().Get("name")
	if badName(name) {
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

const (
	mostLikely  = 5  // classes listed with their probability
	shownGroups = 10 // the others are one entry
)

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
	Fit       *float64                `json:"fit"`          // null if the model has none
	Fits      string                  `json:"fit_sentence"` // "" without fit
	Against   string                  `json:"against"`
	Label     *string                 `json:"label"`     // null if it is not known
	Candidate bool                    `json:"candidate"` // whether the label is one
	Classes   int                     `json:"classes"`
	Likely    []predictor.Probability `json:"likely"`
	Groups    []contribution          `json:"groups"` // by size, all others together, and the correction: they add up to log_odds
	LogOdds   float64                 `json:"log_odds"`
}

type contribution struct {
	Group   string  `json:"group"`
	LogOdds float64 `json:"log_odds"`
}

// predict answers a question.
func (s *Server) predict(r *http.Request, body []byte) (any, error) {
	q, err := read[question](body)
	switch {
	case err != nil:
		return nil, err
	case s.Model == nil:
		return nil, &refusal{http.StatusConflict, "There is no model: lago-train serve " + s.Name + " --model latest."}
	case len(q.Change) > maxTried:
		return nil, &invalid.Error{Where: "change", Want: fmt.Sprintf("at most %d classes", maxTried), Got: fmt.Sprint(len(q.Change))}
	}
	done, err := s.busy(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	s.mu.Lock()
	d, photo := s.d.Clone(), s.photo
	s.mu.Unlock()
	x, row, label := dataset.Matrix[float32]{Rows: 1, Cols: len(photo), Data: photo}, 0, (*string)(nil)
	switch {
	case q.Sample != nil:
		if x, err = s.x(); err != nil {
			return nil, err
		}
		if row = *q.Sample; row < 0 || row >= min(x.Rows, len(s.labels)) {
			return nil, &invalid.Error{Where: "sample", Want: "the index of one of " + format.Count(len(s.labels), "sample"), Got: fmt.Sprint(row)}
		}
		label = &s.labels[row]
	case photo == nil:
		return nil, &invalid.Error{Where: "request", Want: "a sample or a photograph", Got: "none"}
	}
	if err := s.Model.CheckDims("features of "+s.Name, x.Cols); err != nil {
		return nil, err
	}
	candidates, err := s.candidates(d, q)
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
	found := &answer{Predicted: c.Class, Sentence: c.Sentence(), Fit: a.Fit, Fits: predictor.FitSentence(a.Fit), Against: c.Against, Label: label, Classes: len(a.Order), Likely: a.Likely(mostLikely), LogOdds: c.LogOdds}
	found.Candidate = label != nil && slices.Contains(candidates.Names, *label)
	for _, part := range c.Parts(min(shownGroups, len(c.Groups))) {
		found.Groups = append(found.Groups, contribution{part.Name, part.LogOdds})
	}
	return found, nil
}

// candidates returns the classes of d that a question chooses from, with its changes and by the
// attributes of the model: what the data set lacks is missing.
func (s *Server) candidates(d *descriptions.Table, q question) (c predictor.Candidates, err error) {
	removed := map[string]bool{}
	for _, name := range q.Remove {
		removed[name] = true
	}
	cell := d.Scale()
	for _, edit := range q.Change {
		if err := edit.apply(d, cell); err != nil {
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
		if removed[name] || q.Unseen && s.Model.TrainedOn(name) || strings.TrimSpace(strings.Join(d.Cells[z], "")) == "" {
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
