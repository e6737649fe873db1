package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/lago-train/lago-train/dataset"
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
