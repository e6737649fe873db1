package serve

import (
	"cmp"
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
			if c.Class = dataset.Name(c.Class); c.Rename != "" || c.Delete {
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
	isNew := func(name string, but int) error {
		_, want := dataset.CheckName(name)
		switch z := d.Finder()(name); {
		case want != "":
			return &invalid.Error{Where: "class", Want: want, Got: invalid.Quote(name)}
		case z >= 0 && z != but:
			return &invalid.Error{Where: "class", Want: "a new name", Got: invalid.Quote(name), Hint: "There is " + d.Classes[z] + "."}
		}
		return nil
	}
	name := c.Class
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
	switch rename := dataset.Name(c.Rename); {
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
	var want, wantGroup string
	a.Name, want = dataset.CheckName(a.Name)
	a.Group, wantGroup = dataset.CheckName(a.Group)
	grouped := len(d.Attributes) > 0 && d.Attributes[0].Group != ""
	switch {
	case want != "" || a.Name == descriptions.ClassColumn:
		want = cmp.Or(want, "another name")
		return &invalid.Error{Where: "attribute", Want: want, Got: invalid.Quote(a.Name)}
	case a.Group != "" && wantGroup != "":
		return &invalid.Error{Where: "group", Want: wantGroup, Got: invalid.Quote(a.Group)}
	case len(d.Attributes) > 0 && grouped != (a.Group != ""):
		return &invalid.Error{Where: "attribute " + invalid.Quote(a.Name), Want: map[bool]string{true: "a group, as the others have", false: "no group, as the others"}[grouped], Got: invalid.Quote(a.Group)}
	case !d.AddAttribute(a):
		return &invalid.Error{Where: "attribute", Want: "a new name", Got: invalid.Quote(a.Name)}
	}
	return nil
}

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
