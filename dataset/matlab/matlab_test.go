package matlab

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/numeric"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/matfile"
)

// read reads variables of a file that it writes to dir.
func read(t testkit.TB, dir string, data []byte, names ...string) (map[string]*Array, error) {
	t.Helper()
	return load(testkit.Write(t, dir, "test.mat", string(data)), names)
}

// load opens and loads variables.
func load(path string, required []string, optional ...string) (map[string]*Array, error) {
	arrays, err := Open(context.Background(), path, required, optional...)
	for _, a := range arrays {
		if err := a.Load(context.Background()); err != nil {
			return nil, err
		}
	}
	return arrays, err
}

// mustRead reads the variable x.
func mustRead(t testkit.TB, dir string, data []byte) *Array {
	t.Helper()
	return testkit.Must(read(t, dir, data, "x"))(t)["x"]
}

// MATLAB's own variable without a name and what cannot be decoded are skipped, and of two
// variables with the same name the first is read.
func TestReadChoosesByName(t *testing.T) {
	sparse := matfile.Array("s", Class(5), 0, []int{3, 5}, matfile.Numbers(kindInt32, 1, 2))
	table := slices.Concat(matfile.Numbers(kindUint32, float64(opaque), 0), matfile.Element(kindInt8, []byte("o")), matfile.Element(kindInt8, []byte("MCOS")))
	data := matfile.File(
		matfile.Array("", Class(9), 0, []int{1, 1}, matfile.Numbers(kindUint8, 1)),
		sparse,
		matfile.Doubles("x", []int{1, 1}, 1),
		matfile.Compress(matfile.Word("y", "text")),
		matfile.Array("u", Class(200), 0, []int{1, 1}),
		matfile.Doubles("x", []int{1, 1}, 2),
		matfile.Tagged(kindMatrix, uint32(len(table)), table), // without dimensions
		matfile.Compress(sparse),
	)
	want := map[string]*Array{
		"x": {Name: "x", Class: Double, Dims: []int{1, 1}, Float32: []float32{1}},
		"y": {Name: "y", Class: Char, Dims: []int{1, 4}, Strings: []string{"text"}},
	}
	testkit.Equal(t, "found", testkit.Must(read(t, t.TempDir(), data, "y", "x"))(t), want, exported)
	for name, class := range map[string]string{"s": "sparse", "u": "unknown", "o": "opaque"} {
		testkit.Fails(read(t, t.TempDir(), data, name))(t, name+", byte", "expected an array of numbers or text, found class "+class)
	}
}

func TestMissing(t *testing.T) {
	_, err := Open(t.Context(), "../xlsa17/testdata/plain/res101.mat", []string{"labels", "feature"})
	testkit.WantError(t, err, "../xlsa17/testdata/plain/res101.mat: feature: expected a variable of this name, found only features, labels, image_files. Did you mean features?")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, "../xlsa17/testdata/plain/res101.mat", []string{"labels"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open after cancellation: %v", err)
	}
}

var exported = cmpopts.IgnoreUnexported(Array{})

// limits are the integers that fit both a storage type and a float32.
var limits = map[uint32]struct{ low, high int64 }{
	kindInt8: {-128, 127}, kindUint8: {0, 255},
	kindInt16: {-1 << 15, 1<<15 - 1}, kindUint16: {0, 1<<16 - 1},
	kindInt32: {-1 << 24, 1 << 24}, kindUint32: {0, 1 << 24},
	kindInt64: {-1 << 24, 1 << 24}, kindUint64: {0, 1 << 24},
	kindSingle: {-1 << 24, 1 << 24}, kindDouble: {-1 << 24, 1 << 24},
}

// Numbers of any class, stored in any type, compressed or not, are read
// as they were written.
func TestNumbersProperty(t *testing.T) {
	kinds, dir := slices.Sorted(maps.Keys(limits)), t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "storage")
		class := Class(rapid.IntRange(int(Double), int(lastNumeric)).Draw(t, "class"))
		dims := rapid.SliceOfN(rapid.IntRange(0, 9), 2, 4).Draw(t, "dims")
		n, _ := numeric.Count(dims, maxElements)
		ints := rapid.SliceOfN(rapid.Int64Range(limits[kind].low, limits[kind].high), n, n).Draw(t, "values")
		values, want := make([]float64, n), make([]float32, n)
		for i, v := range ints {
			values[i], want[i] = float64(v), float32(v)
		}
		element := matfile.Array("x", class, 0, dims, matfile.Numbers(kind, values...))
		if rapid.Bool().Draw(t, "compressed") {
			element = matfile.Compress(element)
		}
		testkit.Equal(t, "found", mustRead(t, dir, matfile.File(element)), &Array{Name: "x", Class: class, Dims: dims, Float32: want}, exported)
	})
}

// A matrix of several buffers, compressed nearly as well as deflate can.
func TestLargeCompressed(t *testing.T) {
	const rows, columns = 512, 300
	values := slices.Repeat([]float64{0.5}, rows*columns)
	compressed := matfile.Compress(matfile.Doubles("x", []int{rows, columns}, values...))
	testkit.NearAll(t, "x", mustRead(t, t.TempDir(), matfile.File(compressed, matfile.Word("y", "after"))).Float32, values, 0)
}

func TestText(t *testing.T) {
	bird := utf16.Encode([]rune("鳥🐦"))
	cell := func(dims []int, cells ...[]byte) []byte { return matfile.Array("x", Cell, 0, dims, cells...) }
	none := matfile.Tagged(kindMatrix, 0, nil)
	for name, c := range map[string]struct {
		element []byte
		want    []string
	}{
		"a small element": {matfile.Word("x", "ab"), []string{"ab"}},
		"Latin-1":         {matfile.Array("x", Char, 0, []int{1, 2}, matfile.Element(kindUint8, []byte{'a', 0xe9})), []string{"aé"}},
		"UTF-8":           {matfile.Array("x", Char, 0, []int{1, 3}, matfile.Element(kindUTF8, []byte("鳥🐦"))), []string{"鳥🐦"}},
		"UTF-16 pair":     {matfile.Char("x", []int{1, 3}, bird...), []string{"鳥🐦"}},
		"half a pair":     {matfile.Char("x", []int{1, 2}, bird[1], 'a'), []string{"\uFFFDa"}},
		"two rows":        {matfile.Char("x", []int{2, 3}, 'o', 'w', 'w', 'r', 'l', ' '), []string{"owl", "wr"}},
		"rows of nothing": {matfile.Char("x", []int{1 << 30, 0}), []string{""}},
		"cells":           {cell([]int{2, 1}, matfile.Word("", "one"), matfile.Word("", "two")), []string{"one", "two"}},
		"empty cells":     {cell([]int{1, 4}, none, matfile.Doubles("", []int{0, 0}), matfile.Word("", ""), matfile.Word("", "e")), []string{"", "", "", "e"}},
	} {
		for _, element := range [][]byte{c.element, matfile.Compress(c.element)} {
			testkit.Equal(t, name, mustRead(t, t.TempDir(), matfile.File(element)).Strings, c.want)
		}
	}
}

// The published files: sizes, and the sums that scipy.io.loadmat gives.
func TestSharedFiles(t *testing.T) {
	for _, c := range []struct {
		file, variable string
		dims           []int
		sum            float64
	}{
		{"CUB127/res50.mat", "features", []int{2048, 7456}, 5429137.861509442},
		{"CUB127/res50.mat", "labels", []int{7456, 1}, 478695},
		{"CUB127/att_splits.mat", "original_att", []int{312, 127}, 449432.7229848504},
		{"xlsa17/CUB/att_splits.mat", "original_att", []int{312, 200}, 710593.7462644577},
		{"xlsa17/AWA2/att_splits.mat", "original_att", []int{85, 50}, 88370.22011836618},
		{"xlsa17/AWA2/att_splits-without-train_loc.mat", "original_att", []int{85, 50}, 88370.22011836618},
		{"xlsa17/SUN/att_splits.mat", "original_att", []int{102, 717}, 5917.10006846115},
	} {
		t.Run(c.file+" "+c.variable, func(t *testing.T) {
			path := testkit.Shared(t, "data", c.file)
			a := testkit.Must(load(path, []string{c.variable}, "absent"))(t)[c.variable]
			testkit.Equal(t, "found", a.Dims, c.dims)
			var sum float64
			for _, v := range a.Float32 {
				sum += float64(v)
			}
			testkit.Near(t, "sum", sum, c.sum, 1e-10)
		})
	}
}
