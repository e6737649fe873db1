package matlab

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fixture is the part of testdata/expected.json that is also in the .mat files. Both
// were made by the same run of an independent program.
type fixture struct {
	Features [][]float64 `json:"features_sample_by_dim"`
	Labels   []float32   `json:"labels"`
	Classes  []string    `json:"classes"`
	Original [][]float64 `json:"original_att_class_by_attribute"`
	TrainLoc []float32   `json:"train_loc"`
}

func loadFixture(t *testing.T) fixture {
	t.Helper()
	data, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var f fixture
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func flatten(rows [][]float64) []float32 {
	var flat []float32
	for _, row := range rows {
		for _, v := range row {
			flat = append(flat, float32(v))
		}
	}
	return flat
}

func TestReadFixtures(t *testing.T) {
	want := loadFixture(t)
	for _, kind := range []string{"plain", "compressed"} {
		t.Run(kind, func(t *testing.T) {
			res, err := Read(t.Context(), filepath.Join("testdata", kind, "res101.mat"), "features", "labels")
			if err != nil {
				t.Fatal(err)
			}
			splits, err := Read(t.Context(), filepath.Join("testdata", kind, "att_splits.mat"), "allclasses_names", "original_att", "train_loc")
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				got  *Array
				want Array
			}{
				{res["features"], Array{Header: Header{Dims: []int{24, 108}, Class: res["features"].Class}, Float32: flatten(want.Features)}},
				{res["labels"], Array{Header: Header{Dims: []int{108, 1}, Class: Uint8}, Float32: want.Labels}},
				{splits["original_att"], Array{Header: Header{Dims: []int{10, 12}, Class: Double}, Float32: flatten(want.Original)}},
				{splits["train_loc"], Array{Header: Header{Dims: []int{54, 1}, Class: Uint16}, Float32: want.TrainLoc}},
				{splits["allclasses_names"], Array{Header: Header{Dims: []int{12, 1}, Class: Cell}, Strings: want.Classes}},
			} {
				c.want.Name = c.got.Name
				if diff := cmp.Diff(&c.want, c.got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.got.Name, diff)
				}
			}
			if len(res) != 2 {
				t.Errorf("read %d variables, asked for 2", len(res))
			}
		})
	}
}

// MATLAB's own variable without a name is skipped, and of two variables with the same
// name the first is read.
func TestReadChoosesByName(t *testing.T) {
	data := little.file(
		little.array("", Uint8, 0, []int{1, 1}, little.numbers(kindUint8, 1)),
		little.array("structure", Struct, 0, []int{1, 1}),
		little.doubles("x", []int{1, 1}, 1),
		little.compressed(little.word("y", "text")),
		little.doubles("x", []int{1, 1}, 2),
	)
	got, err := read(data, "y", "x")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]*Array{
		"x": {Header: Header{"x", Double, []int{1, 1}}, Float32: []float32{1}},
		"y": {Header: Header{"y", Char, []int{1, 4}}, Strings: []string{"text"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMissingVariable(t *testing.T) {
	_, err := Read(t.Context(), "testdata/plain/res101.mat", "labels", "feature")
	const message = "testdata/plain/res101.mat: feature: expected a variable of this name, found features, labels, image_files. Did you mean features?"
	if err == nil || err.Error() != message {
		t.Errorf("error %v", err)
	}
}

func TestMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.mat")
	if _, err := Read(t.Context(), path, "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read: %v", err)
	}
	if _, err := List(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("List: %v", err)
	}
	if _, err := List(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "expected a regular file") {
		t.Errorf("List of a folder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, "testdata/plain/res101.mat", "labels"); !errors.Is(err, context.Canceled) {
		t.Errorf("Read after cancellation: %v", err)
	}
}

// A variable that cannot be decoded does not prevent the reading of others.
func TestUnsupported(t *testing.T) {
	cases := map[string][]byte{
		"complex":  little.array("x", Double, flagComplex, []int{1, 1}, little.numbers(kindDouble, 1), little.numbers(kindDouble, 2)),
		"sparse":   little.array("x", Sparse, 0, []int{3, 5}, little.numbers(kindInt32, 1, 2)),
		"struct":   little.array("x", Struct, 0, []int{1, 1}),
		"object":   little.array("x", Object, 0, []int{1, 1}),
		"function": little.array("x", Function, 0, []int{1, 1}),
		"unknown":  little.array("x", Class(200), 0, []int{1, 1}),
		"3d text":  little.char("x", []int{1, 1, 2}, 'a', 'b'),
		"numbers":  little.array("x", Cell, 0, []int{1, 1}, little.doubles("", []int{1, 1}, 3)),
	}
	for name, element := range cases {
		for _, compressed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				if compressed {
					element = little.compressed(element)
				}
				data := little.file(element, little.doubles("y", []int{1, 1}, 4))
				if _, err := read(data, "x"); !errors.Is(err, errUnsupported) {
					t.Errorf("asked for: %v", err)
				}
				others, err := read(data, "y")
				if err != nil {
					t.Fatal(err)
				}
				if got := others["y"].Float32; !slices.Equal(got, []float32{4}) {
					t.Errorf("another variable is %v", got)
				}
			})
		}
	}
}

func TestOpaqueHasNoDimensions(t *testing.T) {
	flags := little.numbers(kindUint32, float64(opaque), 0)
	name := little.element(kindInt8, []byte("table"))
	body := slices.Concat(flags, name, little.element(kindInt8, []byte("MCOS")))
	headers, err := list(little.file(little.tagged(kindMatrix, uint32(len(body)), body)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Header{{"table", opaque, nil}}, headers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
