package summary_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/summary"
)

// animals has classes of 1, 2, 3, 4 and 2 samples, of which the last class is in
// no part.
func animals() *dataset.Dataset {
	d := &dataset.Dataset{
		Name:       "animals",
		Source:     "made by hand",
		Features:   dataset.NewMatrix[float32](12, 3),
		Labels:     []int{0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4},
		Classes:    []string{"ant", "bee", "cat", "dog", "éléphant"},
		Attributes: []dataset.Attribute{{Name: "legs::four", Group: 0}, {Name: "flies", Group: 1}, {Name: "legs::six", Group: 0}},
		Groups:     []string{"legs", "flies"},
		Descriptions: dataset.Matrix[float64]{Rows: 5, Cols: 3, Data: []float64{
			0, 0, 1,
			0, 1, math.NaN(),
			1, 0, 0,
			1, 0, 0,
			1, 0, 0,
		}},
		Split: dataset.Split{Train: []int{0, 3}, Val: []int{1}, Test: []int{2}},
	}
	if err := dataset.Check(d); err != nil {
		panic(err)
	}
	return d
}

func TestOf(t *testing.T) {
	d := animals()
	want := summary.Summary{
		Name:        "animals",
		Source:      "made by hand",
		Fingerprint: d.Fingerprint(),
		Samples:     12,
		Dimensions:  3,
		Attributes:  3,
		Undescribed: 1,
		Parts: []summary.Part{
			{Name: "train", Classes: 2, Samples: 5, Min: 1, Median: 2.5, Max: 4},
			{Name: "val", Classes: 1, Samples: 2, Min: 2, Median: 2, Max: 2},
			{Name: "test", Classes: 1, Samples: 3, Min: 3, Median: 3, Max: 3},
		},
		Groups: []summary.Group{
			{Name: "legs", Attributes: []string{"legs::four", "legs::six"}},
			{Name: "flies", Attributes: []string{"flies"}},
		},
		Classes: []summary.Class{
			{Name: "ant", Part: "train", Samples: 1, Described: 3},
			{Name: "bee", Part: "val", Samples: 2, Described: 2},
			{Name: "cat", Part: "test", Samples: 3, Described: 3},
			{Name: "dog", Part: "train", Samples: 4, Described: 3},
			{Name: "éléphant", Samples: 2, Described: 3},
		},
	}
	got := summary.Of(d)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Of (-want +got):\n%s", diff)
	}

	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var back summary.Summary
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, back); diff != "" {
		t.Errorf("through JSON (-want +got):\n%s", diff)
	}
}

func TestUnknownGroups(t *testing.T) {
	d := animals()
	d.Groups = nil
	for m := range d.Attributes {
		d.Attributes[m].Group = -1
	}
	s := summary.Of(d)
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"groups":[]`) {
		t.Errorf("the groups are not an empty list in %s", text)
	}
	var b bytes.Buffer
	if err := s.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "by 3 attributes, whose groups are unknown") {
		t.Errorf("nothing is said of the groups in:\n%s", b.String())
	}
}

// The attributes of a large group go over several lines, none of which is lost
// or too long.
func TestWriteTextWrapsLargeGroups(t *testing.T) {
	g := summary.Group{Name: "has_crown_color"}
	for i := range 40 {
		g.Attributes = append(g.Attributes, fmt.Sprintf("has_crown_color::shade-%02d", i))
	}
	s := summary.Summary{Groups: []summary.Group{g}}
	var b bytes.Buffer
	if err := s.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(line); n > 120 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	for i := range 40 {
		if name := fmt.Sprintf(" shade-%02d", i); strings.Count(b.String(), name) != 1 {
			t.Errorf("%q is there %d times", name, strings.Count(b.String(), name))
		}
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken pipe")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteTextReportsTheWriter(t *testing.T) {
	if err := summary.Of(animals()).WriteText(brokenWriter{}); !errors.Is(err, errBroken) {
		t.Errorf("WriteText gives %v", err)
	}
}
