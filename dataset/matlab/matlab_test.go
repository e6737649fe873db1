package matlab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/matfile"
)

// The writers of the files that these tests read.
var little, big = matfile.Little, matfile.Big

func open(data []byte) *file {
	return &file{r: bytes.NewReader(data), size: int64(len(data)), name: "test.mat"}
}

// read reads variables of a file in memory.
func read(data []byte, want ...string) (map[string]*Array, error) { return open(data).read(want) }

// mustRead reads the variable x.
func mustRead(t testkit.TB, data []byte) *Array {
	t.Helper()
	return testkit.Must(read(data, "x"))(t)["x"]
}

// fixture is the part of testdata/expected.json that is also in the .mat files. Both
// were made by the same run of an independent program.
type fixture struct {
	Features [][]float64 `json:"features_sample_by_dim"`
	Labels   []float32   `json:"labels"`
	Classes  []string    `json:"classes"`
	Original [][]float64 `json:"original_att_class_by_attribute"`
	TrainLoc []float32   `json:"train_loc"`
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
	var want fixture
	testkit.NoError(t, json.Unmarshal([]byte(testkit.Read(t, "testdata/expected.json")), &want))
	for kind, class := range map[string]Class{"plain": Single, "compressed": Double} {
		got := testkit.Must(Read(t.Context(), filepath.Join("testdata", kind, "res101.mat"), "features", "labels"))(t)
		maps.Copy(got, testkit.Must(Read(t.Context(), filepath.Join("testdata", kind, "att_splits.mat"), "allclasses_names", "original_att", "train_loc"))(t))
		if diff := cmp.Diff(map[string]*Array{
			"features":         {Header: Header{"features", class, []int{24, 108}}, Float32: flatten(want.Features)},
			"labels":           {Header: Header{"labels", Uint8, []int{108, 1}}, Float32: want.Labels},
			"original_att":     {Header: Header{"original_att", Double, []int{10, 12}}, Float32: flatten(want.Original)},
			"train_loc":        {Header: Header{"train_loc", Uint16, []int{54, 1}}, Float32: want.TrainLoc},
			"allclasses_names": {Header: Header{"allclasses_names", Cell, []int{12, 1}}, Strings: want.Classes},
		}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

// MATLAB's own variable without a name is skipped, and of two variables with the same
// name the first is read.
func TestReadChoosesByName(t *testing.T) {
	data := little.File(
		little.Array("", Uint8, 0, []int{1, 1}, little.Numbers(kindUint8, 1)),
		little.Array("structure", Struct, 0, []int{1, 1}),
		little.Doubles("x", []int{1, 1}, 1),
		little.Compress(little.Word("y", "text")),
		little.Doubles("x", []int{1, 1}, 2),
	)
	got := testkit.Must(read(data, "y", "x"))(t)
	want := map[string]*Array{
		"x": {Header: Header{"x", Double, []int{1, 1}}, Float32: []float32{1}},
		"y": {Header: Header{"y", Char, []int{1, 4}}, Strings: []string{"text"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMissing(t *testing.T) {
	_, err := Read(t.Context(), "testdata/plain/res101.mat", "labels", "feature")
	testkit.WantError(t, err, "testdata/plain/res101.mat: feature: expected a variable of this name, found features, labels, image_files. Did you mean features?")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, "testdata/plain/res101.mat", "labels"); !errors.Is(err, context.Canceled) {
		t.Errorf("Read after cancellation: %v", err)
	}
}

// A variable that cannot be decoded does not prevent the reading of others.
func TestUnsupported(t *testing.T) {
	cases := map[string][]byte{
		"complex":  little.Array("x", Double, flagComplex, []int{1, 1}, little.Numbers(kindDouble, 1), little.Numbers(kindDouble, 2)),
		"sparse":   little.Array("x", Sparse, 0, []int{3, 5}, little.Numbers(kindInt32, 1, 2)),
		"struct":   little.Array("x", Struct, 0, []int{1, 1}),
		"object":   little.Array("x", Object, 0, []int{1, 1}),
		"function": little.Array("x", Function, 0, []int{1, 1}),
		"unknown":  little.Array("x", Class(200), 0, []int{1, 1}),
		"3d text":  little.Char("x", []int{1, 1, 2}, 'a', 'b'),
		"numbers":  little.Array("x", Cell, 0, []int{1, 1}, little.Doubles("", []int{1, 1}, 3)),
	}
	for name, element := range cases {
		for _, element := range [][]byte{element, little.Compress(element)} {
			data := little.File(element, little.Doubles("y", []int{1, 1}, 4))
			if _, err := read(data, "x"); !errors.Is(err, errUnsupported) {
				t.Errorf("%s, asked for: %v", name, err)
			}
			if got := testkit.Must(read(data, "y"))(t)["y"].Float32; !slices.Equal(got, []float32{4}) {
				t.Errorf("%s: another variable is %v", name, got)
			}
		}
	}
}

func TestOpaqueHasNoDimensions(t *testing.T) {
	flags := little.Numbers(kindUint32, float64(opaque), 0)
	name := little.Element(kindInt8, []byte("table"))
	body := slices.Concat(flags, name, little.Element(kindInt8, []byte("MCOS")))
	headers := testkit.Must(open(little.File(little.Tagged(kindMatrix, uint32(len(body)), body))).list())(t)
	if diff := cmp.Diff([]Header{{"table", opaque, nil}}, headers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// limits are the integers that fit both a storage type and a float32.
var limits = map[uint32]struct{ low, high int64 }{
	kindInt8: {-128, 127}, kindUint8: {0, 255},
	kindInt16: {-1 << 15, 1<<15 - 1}, kindUint16: {0, 1<<16 - 1},
	kindInt32: {-1 << 24, 1 << 24}, kindUint32: {0, 1 << 24},
	kindInt64: {-1 << 24, 1 << 24}, kindUint64: {0, 1 << 24},
	kindSingle: {-1 << 24, 1 << 24}, kindDouble: {-1 << 24, 1 << 24},
}

// Numbers of any class, stored in any type and byte order, compressed or not, are read
// as they were written.
func TestNumbersProperty(t *testing.T) {
	kinds := slices.Sorted(maps.Keys(limits))
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom([]matfile.Writer{little, big}).Draw(t, "order")
		kind := rapid.SampledFrom(kinds).Draw(t, "storage")
		class := rapid.SampledFrom([]Class{Double, Single, Int8, Uint8, Int16, Uint16, Int32, Uint32, Int64, Uint64}).Draw(t, "class")
		dims := rapid.SliceOfN(rapid.IntRange(0, 9), 2, 4).Draw(t, "dims")
		n, _ := elements(dims)
		ints := rapid.SliceOfN(rapid.Int64Range(limits[kind].low, limits[kind].high), int(n), int(n)).Draw(t, "values")
		values, want := make([]float64, n), make([]float32, n)
		for i, v := range ints {
			values[i], want[i] = float64(v), float32(v)
		}
		element := w.Array("x", class, 0, dims, w.Numbers(kind, values...))
		if rapid.Bool().Draw(t, "compressed") {
			element = w.Compress(element)
		}
		if diff := cmp.Diff(&Array{Header: Header{"x", class, dims}, Float32: want}, mustRead(t, w.File(element))); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestFractionsAndLimits(t *testing.T) {
	values := []float64{0.1, -2.5, math.Pi, math.Inf(1), math.Inf(-1), 1e300, math.SmallestNonzeroFloat64}
	want := []float32{0.1, -2.5, math.Pi, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Inf(1)), 0}
	for _, w := range []matfile.Writer{little, big} {
		a := mustRead(t, w.File(w.Doubles("x", []int{7, 1}, values...)))
		if diff := cmp.Diff(want, a.Float32); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		a = mustRead(t, w.File(w.Doubles("x", []int{1, 1}, math.NaN())))
		if got := a.Float32[0]; got == got {
			t.Errorf("not a number became %v", got)
		}
		a = mustRead(t, w.File(w.Array("x", Uint8, flagLogical, []int{1, 3}, w.Numbers(kindUint8, 1, 0, 1))))
		if diff := cmp.Diff(&Array{Header: Header{"x", Logical, []int{1, 3}}, Float32: []float32{1, 0, 1}}, a); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A matrix of several buffers; "constant" is compressed so well that its size is proven
// before memory is allocated.
func TestLargeCompressed(t *testing.T) {
	const rows, columns = 512, 300
	for name, value := range map[string]func(i int) float64{
		"noise":    func(i int) float64 { return float64(float32(math.Sin(float64(i * i)))) },
		"constant": func(int) float64 { return 0.5 },
	} {
		values := make([]float64, rows*columns)
		for i := range values {
			values[i] = value(i)
		}
		compressed := little.Compress(little.Doubles("x", []int{rows, columns}, values...))
		testkit.NearAll(t, name, mustRead(t, little.File(compressed, little.Word("y", "after"))).Float32, values, 0)
	}
}

func TestText(t *testing.T) {
	for _, w := range []matfile.Writer{little, big} {
		utf32 := w.Order.AppendUint32(w.Order.AppendUint32(nil, 'é'), '𝄞')
		bird := utf16.Encode([]rune("鳥🐦"))
		cell := func(dims []int, cells ...[]byte) []byte { return w.Array("x", Cell, 0, dims, cells...) }
		none := w.Tagged(kindMatrix, 0, nil)
		cases := []struct {
			name    string
			element []byte
			want    []string
		}{
			{"a row", w.Char("x", []int{1, 3}, 'o', 'n', 'e'), []string{"one"}},
			{"a small element", w.Word("x", "ab"), []string{"ab"}},
			{"rows keep their blanks", w.Char("x", []int{2, 3}, 'a', 'x', 'b', 'y', ' ', 'z'), []string{"ab ", "xyz"}},
			{"Latin-1", w.Array("x", Char, 0, []int{1, 2}, w.Element(kindUint8, []byte{'a', 0xe9})), []string{"aé"}},
			{"UTF-8", w.Array("x", Char, 0, []int{1, 2}, w.Element(kindUTF8, []byte("aé"))), []string{"aé"}},
			{"UTF-8 counted in pairs", w.Array("x", Char, 0, []int{1, 3}, w.Element(kindUTF8, []byte("鳥🐦"))), []string{"鳥🐦"}},
			{"UTF-8 counted in characters", w.Array("x", Char, 0, []int{1, 2}, w.Element(kindUTF8, []byte("鳥🐦"))), []string{"鳥🐦"}},
			{"UTF-16 pair", w.Char("x", []int{1, 3}, bird...), []string{"鳥🐦"}},
			{"half a pair", w.Char("x", []int{1, 2}, bird[1], 'a'), []string{"\uFFFDa"}},
			{"UTF-32", w.Array("x", Char, 0, []int{1, 2}, w.Element(kindUTF32, utf32)), []string{"é𝄞"}},
			{"empty", w.Char("x", []int{0, 0}), []string{""}},
			{"rows of nothing", w.Char("x", []int{1 << 30, 0}), []string{""}},
			{"cells", cell([]int{2, 1}, w.Word("", "one"), w.Word("", "two")), []string{"one", "two"}},
			{"no cells", cell([]int{0, 1}), nil},
			{"empty cells", cell([]int{1, 5}, none, w.Doubles("", []int{0, 0}), w.Word("", ""), w.Array("", Cell, 0, []int{0, 0}), w.Word("", "e")), []string{"", "", "", "", "e"}},
			{"cells in cells", cell([]int{1, 2}, w.Array("", Cell, 0, []int{1, 2}, w.Word("", "a"), w.Word("", "b")), w.Word("", "c")), []string{"a", "b", "c"}},
		}
		for _, c := range cases {
			for _, element := range [][]byte{c.element, w.Compress(c.element)} {
				if diff := cmp.Diff(c.want, mustRead(t, w.File(element)).Strings); diff != "" {
					t.Errorf("%s, %v (-want +got):\n%s", c.name, w.Order, diff)
				}
			}
		}
	}
}

// Text of any characters comes back from 16-bit units and from UTF-8.
func TestTextProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "words")
		var units, utf8 [][]byte
		for _, word := range words {
			u := utf16.Encode([]rune(word))
			units = append(units, big.Char("", []int{1, len(u)}, u...))
			utf8 = append(utf8, big.Array("", Char, 0, []int{1, len(u)}, big.Element(kindUTF8, []byte(word))))
		}
		for _, cells := range [][][]byte{units, utf8} {
			file := big.File(big.Array("x", Cell, 0, []int{len(words), 1}, cells...))
			if got := mustRead(t, file).Strings; !slices.Equal(got, words) {
				t.Fatalf("%q became %q", words, got)
			}
		}
	})
}
