package xlsa17

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Files of the small folder, as errors name them.
const (
	attFile   = "att_splits.mat"
	metaClass = "meta/" + classFile
	metaDesc  = "meta/" + descriptionFile
	metaAtt   = "meta/attribute_names_with_semantic_group.txt"
)

// badFolder is a change after which the small folder is refused.
type badFolder struct {
	name   string
	change func(s *small)
	want   []string // parts of the error
}

func testBadFolders(t *testing.T, tests []badFolder) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSmall()
			tt.change(s)
			_, err := loadSmall(t, s, Options{})
			wantError(t, err, tt.want...)
		})
	}
}

// wantError checks that err says all of the parts, in this order.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	rest := err.Error()
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("the error is\n%v\nwithout, in its place,\n%s", err, part)
		}
		rest = after
	}
}

func TestFeaturesErrors(t *testing.T) {
	testBadFolders(t, []badFolder{
		{"several files with features", func(s *small) {
			s.featureFile = "a.mat"
			s.att = append(s.att, doubles("features", 1, 1, 0))
		}, []string{"found several: a.mat, att_splits.mat"}},
		{"no file with features", func(s *small) { s.featureFile = "a.mat"; s.drop("features") }, []string{"res101.mat, or one .mat", "a.mat (which has none)", "att_splits.mat (which has none)"}},
		{"no labels", func(s *small) { s.drop("labels") }, []string{"res101.mat", "labels"}},
		{"features transposed", func(s *small) { s.set(doubles("features", 12, 2, make([]float64, 24)...)) }, []string{"res101.mat: features: expected numbers for D dimensions x 12 samples", "double 12x2"}},
		{"features that are text", func(s *small) { s.set(cells("features", "a")) }, []string{"res101.mat: features", "cell"}},
		{"a label that is no whole number", func(s *small) { s.set(column("labels", 1, 2.5, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6)) }, []string{"res101.mat: labels, entry 2: expected a whole number from 1, found 2.5"}},
		{"a label of NaN", func(s *small) { s.set(column("labels", 1, 2, math.NaN(), 4, 5, 6, 1, 2, 3, 4, 5, 6)) }, []string{"labels, entry 3", "NaN"}},
		{"an infinite location", func(s *small) { s.set(column("val_loc", 4, math.Inf(1))) }, []string{"val_loc, entry 2", "+Inf"}},
		{"labels from 0", func(s *small) { s.set(column("labels", 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5)) }, []string{"labels, entry 1", "found 0"}},
		{"a label beyond the classes", func(s *small) { s.set(column("labels", 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 7)) }, []string{"res101.mat: labels, entry 12: expected a class from 1 to 6", "found 7"}},
	})
}

func TestAttSplitsErrors(t *testing.T) {
	testBadFolders(t, []badFolder{
		{"no class names", func(s *small) { s.drop("allclasses_names") }, []string{attFile, "allclasses_names: expected a variable of this name"}},
		{"class names that are numbers", func(s *small) { s.set(column("allclasses_names", 1, 2)) }, []string{attFile, "allclasses_names: expected a cell array of names, found double"}},
		{"two classes of one name", func(s *small) {
			s.set(cells("allclasses_names", "001.Red_bird", "002.Blue_bird", "003.Old_owl", "004.Young_owl", "005.Duck", "005.Duck "))
		}, []string{attFile, "allclasses_names, entry 6", `"005.Duck", as in allclasses_names, entry 5`}},
		{"a class name of a megabyte", func(s *small) {
			s.set(cells("allclasses_names", strings.Repeat("x", 1<<20), "002.Blue_bird", "003.Old_owl", "004.Young_owl", "005.Duck", "006.Swan"))
		}, []string{attFile, "allclasses_names, entry 1: expected a name of at most 1000 bytes, found 1048576"}},
		{"a sparse original_att", func(s *small) {
			s.set(&matlab.Array{Header: matlab.Header{Name: "original_att", Class: matlab.Sparse, Dims: []int{3, 6}}})
		}, []string{attFile, "original_att", "sparse"}},
	})
}

func TestAttributesErrors(t *testing.T) {
	testBadFolders(t, []badFolder{
		{"fewer names than attributes", func(s *small) { s.texts[metaAtt] = "1 size::big\n2 size::small\n" }, []string{metaAtt, "expected 3 attributes", "found 2"}},
		{"more names than attributes", func(s *small) { s.texts[metaAtt] += "4 colour::blue\n" }, []string{metaAtt, "expected 3 attributes, as in the descriptions, found 4"}},
		{"no names in the file", func(s *small) { s.texts[metaAtt] = "" }, []string{metaAtt, "expected 3 attributes", "found 0"}},
		{"two attributes of one name", func(s *small) {
			s.texts[metaAtt] = "1 size::big\n2 colour::red\n\n3 size::big\n"
		}, []string{metaAtt, `line 4: expected a unique name, found "size::big", as in line 1`}},
		{"attributes out of order", func(s *small) {
			s.texts[metaAtt] = "1 size::big\n3 colour::red\n2 size::small\n"
		}, []string{metaAtt, "line 3: expected a number above 3", "found 2"}},
		{"two attributes of one number", func(s *small) {
			s.texts[metaAtt] = "1 size::big\n2 colour::red\n2 size::small\n"
		}, []string{metaAtt, "line 3: expected a number above 2", "found 2"}},
	})
}

func TestMissingFiles(t *testing.T) {
	for _, tt := range []struct {
		name string
		want []string
	}{
		{attFile, []string{attFile + ": no such file"}},
		{"res101.mat", []string{"Small: expected res101.mat, or one .mat with a variable features, found only att_splits.mat (which has none)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newSmall().write(t)
			if err := os.Remove(filepath.Join(dir, tt.name)); err != nil {
				t.Fatal(err)
			}
			_, err := Load(t.Context(), dir, Options{NoCache: true})
			wantError(t, err, tt.want...)
			var e *invalid.Error
			if !errors.As(err, &e) {
				t.Errorf("%#v is no *invalid.Error", err)
			}
		})
	}
	t.Run("the folder", func(t *testing.T) {
		_, err := Load(t.Context(), filepath.Join(t.TempDir(), "Nowhere"), Options{NoCache: true})
		wantError(t, err, "Nowhere", attFile)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("errors.Is(%v, fs.ErrNotExist) is false", err)
		}
	})
	t.Run("any .mat with features", func(t *testing.T) {
		_, err := findFeatures(t.Context(), t.TempDir())
		wantError(t, err, "res101.mat", "found no .mat file")
	})
}

func TestFilesThatAreNoMATFiles(t *testing.T) {
	for _, name := range []string{attFile, "res101.mat", "other.mat"} {
		t.Run(name, func(t *testing.T) {
			s := newSmall()
			if name == "other.mat" {
				s.featureFile = name
			}
			dir := s.write(t)
			writeText(t, filepath.Join(dir, name), "not found")
			_, err := Load(t.Context(), dir, Options{NoCache: true})
			wantError(t, err, filepath.Join("Small", name), "level 5 MAT-file")
		})
	}
}

// dataset.Check, not Load, refuses features that are not finite.
func TestFeaturesThatAreNotFinite(t *testing.T) {
	s := newSmall()
	x := make([]float64, 24)
	x[7] = math.NaN()
	s.set(doubles("features", 2, 12, x...))
	d, err := loadSmall(t, s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, dataset.Check(d), "small: feature 1 of sample 3: expected a finite number, found NaN")
}
