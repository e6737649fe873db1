package xlsa17

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
)

// expectedMini is testdata/expected.json: the numbers that both forms of the
// fixture were written from.
type expectedMini struct {
	Features [][]float64 `json:"features_sample_by_dim"`
	Labels   []int       `json:"labels"`
	Classes  []string    `json:"classes"`
	Original [][]float64 `json:"original_att_class_by_attribute"`
	Train    []string    `json:"train"`
	Val      []string    `json:"val"`
	Test     []string    `json:"test"`
}

func readExpected(t *testing.T) expectedMini {
	t.Helper()
	text, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var e expectedMini
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestMiniFixture(t *testing.T) {
	want := readExpected(t)
	for _, form := range []string{"plain", "compressed"} {
		t.Run(form, func(t *testing.T) {
			log, _ := quietLog()
			d, err := Load(t.Context(), filepath.Join("testdata", form), Options{NoCache: true, Log: log})
			if err != nil {
				t.Fatal(err)
			}
			if err := dataset.Check(d); err != nil {
				t.Error(err)
			}
			compareMini(t, want, d)
			if d.Name != form || !filepath.IsAbs(d.Source) {
				t.Errorf("Name is %q, Source %q", d.Name, d.Source)
			}
		})
	}
}

func compareMini(t *testing.T, want expectedMini, d *dataset.Dataset) {
	t.Helper()
	var labels []int
	for _, z := range d.Labels {
		labels = append(labels, z+1)
	}
	if diff := cmp.Diff(want.Labels, labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Classes, d.Classes); diff != "" {
		t.Errorf("classes (-want +got):\n%s", diff)
	}
	for _, p := range []struct {
		want []string
		got  []int
	}{{want.Train, d.Split.Train}, {want.Val, d.Split.Val}, {want.Test, d.Split.Test}} {
		var names []string
		for _, z := range p.got {
			names = append(names, d.Classes[z])
		}
		if diff := cmp.Diff(p.want, names); diff != "" {
			t.Errorf("split (-want +got):\n%s", diff)
		}
	}
	features := make([][]float64, d.Features.Rows)
	for i := range features {
		for _, v := range d.Features.Row(i) {
			features[i] = append(features[i], float64(v))
		}
	}
	// Values up to 5 in float32, whose step there is 2^-21.
	if diff := cmp.Diff(want.Features, features, cmpopts.EquateApprox(0, 3e-7)); diff != "" {
		t.Errorf("features (-want +got):\n%s", diff)
	}
	for z, row := range want.Original {
		for m, percent := range row {
			p := d.Descriptions.Row(z)[m]
			if percent < 0 {
				if !math.IsNaN(p) {
					t.Errorf("description of class %d, attribute %d: %v, want NaN", z, m, p)
				}
				continue
			}
			if math.Abs(p-percent/100) > 1e-7 {
				t.Errorf("description of class %d, attribute %d: %v, want %v", z, m, p, percent/100)
			}
		}
	}
	if diff := cmp.Diff([]string{"shape", "colour", "habitat", "size"}, d.Groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 0, 0, 1, 1, 1, 1, 2, 2, 3}, d.GroupOf()); diff != "" {
		t.Errorf("group of each attribute (-want +got):\n%s", diff)
	}
	if got := d.Attributes[3].Name; got != "colour::v3" {
		t.Errorf("attribute 3 is %q", got)
	}
	if d.FeaturesSum != dataset.SumFeatures(d.Features) {
		t.Errorf("FeaturesSum is %q", d.FeaturesSum)
	}
}

// An attributes.txt beside the folder that is of another length belongs to
// another data set.
func TestAttributesBesideTheFolder(t *testing.T) {
	s := newSmall()
	dir := s.write(t)
	beside := filepath.Join(filepath.Dir(dir), "attributes.txt")
	for _, tt := range []struct {
		text   string
		groups []string
	}{
		{"1 size::big\n2 size::small\n3 colour::red\n", []string{"size", "colour"}},
		{"1 size::big\n2 size::small\n", nil},
	} {
		if err := os.WriteFile(beside, []byte(tt.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "meta")); err != nil {
			t.Fatal(err)
		}
		log, hook := quietLog()
		d, err := Load(t.Context(), dir, Options{NoCache: true, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.groups, d.Groups); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
		if said := len(hook.AllEntries()) > 0; said != (tt.groups != nil) {
			t.Errorf("the log has %d entries", len(hook.AllEntries()))
		}
	}
}
