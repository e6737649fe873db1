package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/openlayout"
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
		c := class{Name: name, Cells: s.d.Cells[z], Values: values(u.Row(z)), Rows: append([]int{}, rows[name]...)}
		c.Trained = s.Model != nil && s.Model.TrainedOn(name)
		v.Classes = append(v.Classes, c)
	}
	if s.Model != nil {
		v.Model = &modelState{fmt.Sprintf("%s trained on %s", s.Model.Method.Label(), s.Model.Dataset), s.Features != nil, append([]string{}, s.unknown()...)}
	}
	return v
}

// values has nil for NaN, which JSON lacks.
func values(u []float64) []*float64 {
	list := make([]*float64, len(u))
	for i := range u {
		if !math.IsNaN(u[i]) {
			list[i] = &u[i]
		}
	}
	return list
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

// findings is what the page lists of the descriptions.
type findings struct {
	Pairs      []pair   `json:"pairs"` // the most confused ones
	Number     int      `json:"number"`
	Separating string   `json:"separating"` // attribute that most pairs lack, "" for none
	Of         int      `json:"of"`         // number of these
	Constant   []string `json:"constant"`   // attributes that are the same for all classes
	Missing    []lack   `json:"missing"`    // classes with empty cells, the most first
}

type pair struct {
	A         string   `json:"a"`
	B         string   `json:"b"`
	Confusion float64  `json:"confusion"`
	Missing   []string `json:"missing"` // attributes that one or both lack
	Differ    []string `json:"differ"`  // those that differ most
}

type lack struct {
	Class string `json:"class"`
	Cells int    `json:"cells"`
}

// What the page lists at most.
const (
	shownPairs      = 30
	shownAttributes = 5
)

// check finds what is wrong with the descriptions.
func (s *Server) check() *findings {
	u := s.d.Values()
	pairs, number := dataset.Confusable(u)
	f := &findings{Pairs: []pair{}, Number: number, Constant: []string{}, Missing: []lack{}}
	name := func(m int) string { return s.d.Attributes[m].Name }
	if m, of := dataset.Separating(pairs, u.Cols); m >= 0 {
		f.Separating, f.Of = name(m), of
	}
	for _, p := range pairs[:min(len(pairs), shownPairs)] {
		a, b := u.Row(p.A), u.Row(p.B)
		one := pair{A: s.d.Classes[p.A], B: s.d.Classes[p.B], Confusion: p.Confusion, Missing: []string{}, Differ: []string{}}
		for _, m := range p.Missing[:min(len(p.Missing), shownAttributes)] {
			one.Missing = append(one.Missing, name(m))
		}
		order := make([]int, u.Cols)
		for m := range order {
			order[m] = m
		}
		difference := func(m int) float64 { return math.Abs(a[m] - b[m]) }
		order = slices.DeleteFunc(order, func(m int) bool { return !(difference(m) > 0) })
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(difference(j), difference(i)) })
		for _, m := range order[:min(len(order), shownAttributes)] {
			one.Differ = append(one.Differ, name(m))
		}
		f.Pairs = append(f.Pairs, one)
	}
	for m := range u.Cols {
		least, most := math.Inf(1), math.Inf(-1)
		for z := range u.Rows {
			if p := u.Row(z)[m]; p == p {
				least, most = min(least, p), max(most, p)
			}
		}
		if least >= most {
			f.Constant = append(f.Constant, name(m))
		}
	}
	for z, class := range s.d.Classes {
		if n := u.Cols - dataset.Described(u.Row(z)); n > 0 {
			f.Missing = append(f.Missing, lack{class, n})
		}
	}
	slices.SortStableFunc(f.Missing, func(a, b lack) int { return b.Cells - a.Cells })
	return f
}
