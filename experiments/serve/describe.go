package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

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
