package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

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

func (s *Server) now() (d *descriptions.Table, undo, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.d, len(s.undo), s.version
}

func (s *Server) state() *state {
	d, undo, version := s.now()
	v := &state{
		Version: version, Name: s.Name, ReadOnly: s.readOnly, Undo: undo,
		Pictures: catalog.HasPictures(s.pictures), Words: descriptions.Words,
		Attributes: append([]descriptions.Attribute{}, d.Attributes...), Classes: []class{},
	}
	drafts := map[string][]string{}
	for _, draft := range slices.SortedFunc(maps.Keys(d.Drafts), func(a, b descriptions.Draft) int {
		return strings.Compare(a.Group, b.Group)
	}) {
		drafts[draft.Class] = append(drafts[draft.Class], draft.Group)
	}
	rows := map[string][]int{}
	for i, name := range s.labels {
		rows[name] = append(rows[name], i)
	}
	u := d.Values()
	for z, name := range d.Classes {
		c := class{
			Name: name, Values: []*float64{}, Drafts: append([]string{}, drafts[name]...),
			Rows: append([]int{}, rows[name]...),
		}
		for _, p := range u.Row(z) {
			c.Values = append(c.Values, format.Known(p))
		}
		c.Trained = s.Model != nil && s.Model.TrainedOn(name)
		v.Classes = append(v.Classes, c)
	}
	if s.Model != nil {
		v.Model = &modelState{
			fmt.Sprintf("%s trained on %s", s.Model.Method.Label(), s.Model.Dataset), s.Features != nil,
			"lago-train predict --model " + s.Model.Dir() + " --images PHOTOGRAPHS --weights FILE",
			append([]string{}, s.unknown(d)...),
		}
	}
	return v
}

type edit struct {
	Version int      `json:"version"` // that the page shows
	Changes []change `json:"changes"`
}

type change struct {
	Attribute *descriptions.Attribute `json:"attribute"`
	Class     string                  `json:"class"`
	New       bool                    `json:"new"`
	Rename    string                  `json:"rename"` // its new name
	Delete    bool                    `json:"delete"`
	Cells     map[string]*float64     `json:"cells"`   // by attribute; null empties the cell
	Checked   []string                `json:"checked"` // groups that are no drafts any more
}

func (s *Server) edit(r *http.Request, body []byte) (any, error) {
	return s.saved(r.Context(), body, func(e edit, h history) (history, error) {
		named := 0
		for _, c := range e.Changes {
			if c.New || c.Rename != "" || c.Delete {
				named++
			}
		}
		if named > maxNamed {
			return h, &invalid.Error{
				Where: "request", Want: fmt.Sprintf("at most %d new, renamed or deleted classes", maxNamed),
				Got: fmt.Sprint(named),
			}
		}
		edited, split := newEdited(h.d), []string(nil)
		for _, c := range e.Changes {
			c.Class = dataset.Name(c.Class)
			err := r.Context().Err()
			if c.Rename != "" || c.Delete {
				if err == nil && split == nil {
					split, err = openlayout.SplitClasses(r.Context(), s.Dir)
				}
				err = errors.Join(err, s.mayRename(c.Class, split))
			}
			if err == nil {
				err = edited.apply(c)
			}
			if err != nil {
				return h, err
			}
		}
		return history{edited.Table, append(h.undo, h.d)}, nil
	})
}

// mayRename refuses to rename or delete a class that other files than those of the descriptions name.
func (s *Server) mayRename(class string, split []string) error {
	switch {
	case slices.Contains(s.labels, class):
		return &refusal{
			http.StatusConflict,
			class + " has samples, whose class is in labels.csv: rename or remove the folder of its " +
				"photographs, and extract again.",
		}
	case slices.Contains(split, class):
		return &refusal{http.StatusConflict, class + " is in splits.csv: remove its line there first."}
	}
	return nil
}

type edited struct {
	*descriptions.Table
	cell  func(p float64) string // writes a probability
	index *descriptions.Index    // nil after a class got another name
}

func newEdited(t *descriptions.Table) *edited {
	return &edited{t.Clone(), t.Scale(), t.Index()}
}

// newName checks that the name of class z, -1 for a new class, means no other class. Save checks the rest.
func (t *edited) newName(name string, z int) error {
	if t.index == nil {
		t.index = t.Index()
	}
	if other := t.index.Find(name); other >= 0 && other != z {
		return &invalid.Error{
			Where: "class", Want: "a new name", Got: invalid.Quote(name),
			Hint: "There is " + t.Classes[other] + ".",
		}
	}
	return nil
}

func (t *edited) apply(c change) error {
	if a := c.Attribute; a != nil {
		a = &descriptions.Attribute{Name: dataset.Name(a.Name), Group: dataset.Name(a.Group)}
		if t.AddAttributes(*a) == 0 {
			return &invalid.Error{Where: "attribute", Want: "a new name", Got: invalid.Quote(a.Name)}
		}
		return nil
	}
	name := dataset.Name(c.Class)
	if c.New {
		if err := t.newName(name, -1); err != nil {
			return err
		}
		t.index.Add(name, len(t.Classes))
		t.Classes, t.Cells = append(t.Classes, name), append(t.Cells, make([]string, len(t.Attributes)))
	}
	z := slices.Index(t.Classes, name)
	if z < 0 {
		return &invalid.Error{Where: "class", Want: "one of the data set", Got: invalid.Quote(name)}
	}
	for attribute, p := range c.Cells {
		m := t.Attribute(attribute)
		switch {
		case m < 0 || p != nil && !(*p >= 0 && *p <= 1):
			return &invalid.Error{
				Where: "class " + invalid.Quote(name),
				Want:  "attributes of the data set with probabilities from 0 to 1",
				Got:   invalid.Quote(attribute),
			}
		case p == nil:
			t.Set(z, m, "")
		default:
			t.Set(z, m, t.cell(*p))
		}
	}
	for _, group := range c.Checked {
		t.SetDraft(descriptions.Draft{Class: name, Group: group}, false)
	}
	switch rename := dataset.Name(c.Rename); {
	case c.Delete:
		t.RenameClass(z, "")
		t.index = nil
	case c.Rename != "":
		if err := t.newName(rename, z); err != nil {
			return err
		}
		t.RenameClass(z, rename)
		t.index = nil
	}
	return nil
}

func (s *Server) undoEdit(r *http.Request, body []byte) (any, error) {
	return s.saved(r.Context(), body, func(_ edit, h history) (history, error) {
		last := len(h.undo) - 1
		if last < 0 {
			return h, &refusal{http.StatusConflict, "There is nothing to undo."}
		}
		return history{h.undo[last], h.undo[:last:last]}, nil
	})
}

// saved writes the descriptions that change returns, and answers with what the page shows. The lock is held
// for the write alone.
func (s *Server) saved(ctx context.Context, body []byte,
	change func(e edit, h history) (history, error),
) (any, error) {
	e, err := read[edit](body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	h, err := s.history, s.mayWrite(e)
	s.mu.Unlock()
	if err == nil {
		h.undo = slices.Clip(h.undo)
		h, err = change(e, h)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	err = s.write(ctx, e, h)
	s.mu.Unlock()
	return s.state(), err
}

// mayWrite refuses an edit of descriptions that the page does not show.
func (s *Server) mayWrite(e edit) error {
	switch {
	case s.readOnly != "":
		return &refusal{http.StatusForbidden, s.readOnly}
	case e.Version != s.version:
		return &refusal{
			http.StatusConflict,
			"The descriptions have changed in another window. Nothing was overwritten; " +
				"the page now shows them.",
		}
	}
	return nil
}

func (s *Server) write(ctx context.Context, e edit, h history) error {
	err := s.mayWrite(e)
	if err == nil {
		err = h.d.Save()
	}
	if errors.Is(err, descriptions.ErrChanged) {
		fresh, failed := openlayout.ReadDescriptions(ctx, s.Dir)
		if failed != nil {
			return failed
		}
		h = history{d: fresh}
	} else if err != nil {
		return err
	}
	s.history = h
	s.version++
	return err
}

// shownPairs is the number of pairs that the page lists at most, and shownAttributes that of the
// attributes of a pair.
const (
	shownPairs      = 30
	shownAttributes = 5
)

type findings struct {
	check.Descriptions
	Percent []string `json:"percent"`
}

func (s *Server) check(r *http.Request, _ []byte) (any, error) {
	done, err := s.busy(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	table, _, _ := s.now()
	d := findings{check.Describe(table), nil}
	d.Pairs = d.Pairs[:min(len(d.Pairs), shownPairs)]
	for i, p := range d.Pairs {
		d.Percent = append(d.Percent, format.Percent(p.Confusion))
		d.Pairs[i].Missing = p.Missing[:min(len(p.Missing), shownAttributes)]
		d.Pairs[i].Differ = p.Differ[:min(len(p.Differ), shownAttributes)]
	}
	return d, nil
}
