package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/testkit"
)

// names are those of classes, attributes and groups that people, programs and attackers write.
var names = []string{
	"owl", " owl", "Owl", "barn owl", "barn\u00a0owl", "barn\u202fowl", "caf\u00e9", "cafe\u0301", `"q", uoted`,
	"a;b", "a\tb", "a\nb", "a\rb", "\x1b[2J", "\x7f", "line\u2028break", "\ufeffmark", "\u202eleft", "class", "name", "sep=;", "'", "\u200d", "\U0001f989", "1,5", "３", "-", "#", "=1+1", "",
}

// plain is what the descriptions are by a plain account of the changes that were accepted.
type plain struct {
	Attributes []descriptions.Attribute
	Classes    []string
	Cells      map[string]map[string]string // by class and attribute, without empty ones
	Drafts     map[descriptions.Draft]bool
}

func (p plain) clone() plain {
	p.Attributes, p.Classes = slices.Clone(p.Attributes), slices.Clone(p.Classes)
	p.Drafts, p.Cells = maps.Clone(p.Drafts), maps.Clone(p.Cells)
	for class, cells := range p.Cells {
		p.Cells[class] = maps.Clone(cells)
	}
	return p
}

func plainOf(t *descriptions.Table) plain {
	p := plain{t.Attributes, t.Classes, map[string]map[string]string{}, map[descriptions.Draft]bool{}}
	maps.Copy(p.Drafts, t.Drafts)
	for z, class := range t.Classes {
		p.Cells[class] = map[string]string{}
		for m, cell := range t.Cells[z] {
			if cell != "" {
				p.Cells[class][t.Attributes[m].Name] = cell
			}
		}
	}
	return p
}

func (p *plain) apply(c change) {
	class := dataset.Name(c.Class)
	switch rename := dataset.Name(c.Rename); {
	case c.Attribute != nil:
		name, group := dataset.Name(c.Attribute.Name), dataset.Name(c.Attribute.Group)
		p.Attributes = append(p.Attributes, descriptions.Attribute{Name: name, Group: group})
		return
	case c.New:
		p.Classes, p.Cells[class] = append(p.Classes, class), map[string]string{}
	case c.Delete || rename != "" && rename != class:
		z, cells := slices.Index(p.Classes, class), p.Cells[class]
		delete(p.Cells, class)
		if p.Classes = slices.Delete(p.Classes, z, z+1); !c.Delete {
			p.Classes, p.Cells[rename] = slices.Insert(p.Classes, z, rename), cells
		}
		for d := range maps.Clone(p.Drafts) {
			if d.Class == class {
				delete(p.Drafts, d)
				if !c.Delete {
					p.Drafts[descriptions.Draft{Class: rename, Group: d.Group}] = true
				}
			}
		}
		return
	}
	for attribute, v := range c.Cells {
		if delete(p.Cells[class], attribute); v != nil {
			p.Cells[class][attribute] = map[float64]string{0: "no", 1: "yes"}[*v]
		}
	}
	for _, group := range c.Checked {
		delete(p.Drafts, descriptions.Draft{Class: class, Group: group})
	}
}

// What a page accepts, whatever the names, is in the files as in a plain account of it, also when the page is
// opened again between two changes. LAGO_EDITS is the number of changes.
func TestEditsAgainstAPlainAccount(t *testing.T) {
	edits, err := strconv.Atoi(os.Getenv("LAGO_EDITS"))
	if err != nil {
		edits = 60
	}
	s := started(t, Page{})
	draw := rand.New(rand.NewPCG(57, 6))
	pick := func(list []string) string { return list[draw.IntN(len(list))] }
	now := plainOf(s.d)
	var before []plain
	accepted, version := 0, 0
	for i := range edits {
		if draw.IntN(20) == 0 { // some groups become drafts, as describe --from does
			testkit.NoError(t, s.unlock())
			d := testkit.Must(openlayout.ReadDescriptions(t.Context(), s.Dir))(t)
			d.SetDraft(descriptions.Draft{Class: pick(d.Classes), Group: "size"}, true)
			testkit.NoError(t, d.Save())
			s = started(t, Page{Dir: s.Dir})
			now, before, version = plainOf(s.d), nil, 0
		}
		one, zero := 1.0, 0.0
		value := []*float64{&one, &zero, nil}[draw.IntN(3)]
		c := []change{
			{Attribute: &descriptions.Attribute{Name: pick(names), Group: "size"}},
			{Attribute: &descriptions.Attribute{Name: "a" + strconv.Itoa(i), Group: pick(names)}},
			{Class: pick(names), New: true},
			{Class: pick(s.d.Classes), Cells: map[string]*float64{pick(attributes): value}},
			{Class: pick(s.d.Classes), Rename: pick(names)},
			{Class: pick(s.d.Classes), Delete: true},
			{Class: pick(s.d.Classes), Checked: []string{"size", "colour"}},
		}[draw.IntN(7)]
		if draw.IntN(6) == 0 {
			if w := request(s, "POST", "/undo", edit{Version: version}, nil); w.Code == http.StatusOK {
				now, before = before[len(before)-1], before[:len(before)-1]
				version++
			}
		} else if w := request(s, "POST", "/edit", edit{version, []change{c}}, nil); w.Code == http.StatusOK {
			before = append(before, now)
			now = now.clone()
			now.apply(c)
			accepted++
			version++
		}
		text, _ := json.Marshal(c) // of this test
		again := testkit.Must(openlayout.ReadDescriptions(t.Context(), s.Dir))(t)
		testkit.Equal(t, fmt.Sprintf("after change %d, %s", i, text), plainOf(again), now)
		if t.Failed() {
			return
		}
	}
	if accepted < edits/4 {
		t.Errorf("%d of %d changes were accepted", accepted, edits)
	}
}

// What a page accepts can be read again.
func FuzzEdit(f *testing.F) {
	for _, name := range names {
		attribute := &descriptions.Attribute{Name: name, Group: name}
		text, _ := json.Marshal([]change{{Class: name, New: true}, {Attribute: attribute}, {Class: "bare", Rename: name}})
		f.Add(text)
	}
	f.Add([]byte(`[{"class":"bare","cells":{"colour::red":1e-300,"size::small":null},"checked":["size"]},
		{"class":"bare","delete":true}]`))
	labels := things(f)
	testkit.NoError(f, os.Remove(labels+"/labels.csv"))
	s := started(f, Page{Dir: labels})
	first := s.d
	f.Fuzz(func(t *testing.T, changes []byte) {
		body := fmt.Appendf(nil, `{"version":%d,"changes":%s}`, s.version, changes)
		w := request(s, "POST", "/edit", body, nil)
		if w.Code != http.StatusOK {
			return
		}
		again := testkit.Must(openlayout.ReadDescriptions(t.Context(), s.Dir))(t)
		testkit.Equal(t, "read again", plainOf(again), plainOf(s.d))
		s.d, s.undo = first, nil
	})
}

// A change is in the file at once, as a word like the others. What another program writes meanwhile is kept
// and shown.
func TestEdit(t *testing.T) {
	s := started(t, Page{})
	path := filepath.Join(s.Dir, "classes.csv")
	edit := func(version int, body map[string]any) *httptest.ResponseRecorder {
		return request(s, "POST", "/edit", map[string]any{"version": version, "changes": []any{body}}, nil)
	}
	v := answered[state](t, edit(0, map[string]any{"class": "bare", "cells": map[string]any{"colour::red": 0.76, "size::small": nil}}))
	testkit.WantText(t, testkit.Read(t, path), "big blue,no,yes,yes,no\nbare,often,,,\n")
	testkit.Equal(t, "undo and version", []int{v.Undo, v.Version}, []int{1, 1})
	testkit.Equal(t, "bare", v.Classes[2].Values, []*float64{new(0.75), nil, nil, nil})
	testkit.Write(t, s.Dir, "classes.csv", "class,colour::red\nold,0.5\n")
	w := edit(1, map[string]any{"class": "old", "cells": map[string]any{"colour::red": 1}})
	testkit.Equal(t, "of a file that changed", w.Code, http.StatusConflict)
	testkit.WantText(t, testkit.Read(t, path), "old,0.5")
	v = answered[state](t, request(s, "GET", "/state", nil, nil))
	testkit.Equal(t, "version", v.Version, 2)
	testkit.Equal(t, "old", *v.Classes[0].Values[0], 0.5)
}

// The second page of a data set is only read, until the first one ends.
func TestTwoPages(t *testing.T) {
	s := started(t, Page{})
	second := started(t, Page{Dir: s.Dir})
	testkit.WantText(t, second.WhyReadOnly(), "another process has it open for writing")
	v := answered[state](t, request(second, "GET", "/state", nil, nil))
	testkit.Equal(t, "said on the page", v.ReadOnly, second.WhyReadOnly())
	_, err := catalog.Describe(t.Context(), s.Dir, catalog.Sources{}, catalog.Options{})
	testkit.WantError(t, err, descriptions.ErrLocked.Error())
	testkit.NoError(t, s.unlock())
	testkit.Equal(t, "after the first", started(t, Page{Dir: s.Dir}).WhyReadOnly(), "")
}

// Many classes are added at once, and deleted; more are refused.
func TestManyClasses(t *testing.T) {
	s := started(t, Page{})
	many := make([]change, maxNamed+1)
	for i := range many {
		many[i] = change{Class: fmt.Sprint("class ", i), New: true}
	}
	w := request(s, "POST", "/edit", edit{Changes: many}, nil)
	testkit.WantText(t, w.Body.String(), "request: expected at most 1000 new, renamed or deleted classes, found 1001")
	many = many[1:]
	v := answered[state](t, request(s, "POST", "/edit", edit{Changes: many}, nil))
	testkit.Equal(t, "classes", len(v.Classes), 1003)
	for i := range many {
		many[i] = change{Class: many[i].Class, Delete: true}
	}
	v = answered[state](t, request(s, "POST", "/edit", edit{Version: 1, Changes: many}, nil))
	testkit.Equal(t, "classes left", len(v.Classes), 3)
}

// kinds is a table of so many classes: those with an even number are red and large, the others blue and small.
func kinds(classes int) *descriptions.Table {
	t := &descriptions.Table{Attributes: []descriptions.Attribute{
		{Name: "spots"},
		{Name: "red", Group: "colour"},
		{Name: "blue", Group: "colour"},
		{Name: "large", Group: "size"},
		{Name: "small", Group: "size"},
	}}
	for i := range classes {
		t.Classes = append(t.Classes, fmt.Sprint("kind ", i))
		t.Cells = append(t.Cells, strings.Fields([]string{"no yes no yes no", "no no yes no yes"}[i%2]))
	}
	return t
}

// Groups are in the order in which they tell most, what is empty is filled, and an entry that contradicts the others
// is the most doubtful one; with few classes nothing is expected.
func TestExpectation(t *testing.T) {
	d := kinds(12)
	d.Set(0, 1, "")
	d.Set(0, 2, "")
	d.Set(5, 4, "no")
	d.SetDraft(descriptions.Draft{Class: "kind 5", Group: "size"}, true)
	e := expectationOf(d)
	testkit.Equal(t, "group asked last", e.Order[2].Name, "")
	f, first := e.Filled["kind 0"], e.Doubts[0]
	testkit.Equal(t, "filled", []any{len(e.Filled), f[0] == nil, *f[1] > *f[2]}, []any{1, true, true})
	testkit.Equal(t, "doubt", []any{first.Class, first.Draft, first.Value, first.Expected > 0.5}, []any{"kind 5", true, 0.0, true})
	testkit.Equal(t, "similar classes", []any{len(first.Similar), first.Similar[0].Value}, []any{3, 1.0})
	few := expectationOf(kinds(9))
	testkit.Equal(t, "of few", []any{few.Order[0].Name, len(few.Doubts), len(few.Filled)}, []any{"", 0, 0})
}

// What is expected and missing is that of the table as it is when it is asked for.
func TestExpectAndCheck(t *testing.T) {
	s := started(t, Page{})
	for version, want := range [][]int{{0, 2, 4}, {1, 3, 3}} {
		e := answered[expectation](t, request(s, "GET", "/expect", nil, nil))
		missing := answered[check.Descriptions](t, request(s, "GET", "/check", nil, nil)).Missing.Entries
		testkit.Equal(t, "version, described classes and missing entries", []int{e.Version, e.Described, missing}, want)
		cells := map[string]*float64{attributes[0]: new(1.0)}
		answered[state](t, request(s, "POST", "/edit", edit{version, []change{{Class: "bare", Cells: cells}}}, nil))
	}
}
