package xlsa17

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/matfile"
)

// small is a folder that tests change before they write it: 12 samples of 2 dimensions, 6
// classes, 3 attributes. Sample i is of class i mod 6.
type small struct {
	featureFile   string
	features, att map[string][]byte // variables by name
	texts         map[string]string
}

var (
	smallClasses = []string{"001.Red_bird", "002.Blue_bird", "003.Old_owl", "004.Young_owl", "005.Duck", "006.Swan"}
	// smallPercent has a row for each class.
	smallPercent = []float64{100, 0, 50, 20, 80, 0, 0, 100, 10, 90, 5, 60, 25, 75, 33, 70, 30, 12}
)

func newSmall() *small {
	x := make([]float64, 24)
	for i := range x {
		x[i] = float64(i) / 4
	}
	s := &small{featureFile: featuresMat, features: map[string][]byte{}, att: map[string][]byte{}}
	s.doubles("features", 2, 12, x...)
	s.column("labels", 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6)
	s.cells("allclasses_names", smallClasses...)
	s.doubles("original_att", 3, 6, smallPercent...)
	s.column("train_loc", 1, 2, 3, 7, 8, 9)
	s.column("val_loc", 4, 10)
	s.column("trainval_loc", 1, 2, 3, 4, 8, 9)
	s.column("test_seen_loc", 7, 10)
	s.column("test_unseen_loc", 5, 6, 11, 12)
	s.texts = map[string]string{
		"trainclasses1.txt": "001.Red_bird\n002.Blue_bird\n003.Old_owl\n",
		"valclasses1.txt":   "004.Young_owl\n",
		"trainclasses2.txt": "004.Young_owl\n002.Blue_bird\n",
		"valclasses2.txt":   "003.Old_owl\n001.Red_bird\n",
		"testclasses.txt":   "005.Duck\n006.Swan\n",
		classFile:           "1 001.Red_bird\n2 002.Blue_bird\n3 003.Old_owl\n4 004.Young_owl\n5 005.Duck\n6 006.Swan\n",
		descriptionFile:     "100 0 50\n20 80 0\n0 100 10\n90 5 60\n25 75 33\n70 30 12\n",
		"meta/attribute_names_with_semantic_group.txt": "1 size::big\n2 size::small\n3 colour::red\n",
	}
	return s
}

// put sets a variable of the file that has it.
func (s *small) put(name string, class matlab.Class, dims []int, data ...[]byte) {
	vars := s.att
	if name == varFeatures || name == varLabels || name == varImages {
		vars = s.features
	}
	vars[name] = matfile.Array(name, class, 0, dims, data...)
}

// doubles sets numbers, stored as float32.
func (s *small) doubles(name string, rows, cols int, numbers ...float64) {
	s.put(name, matlab.Double, []int{rows, cols}, matfile.Numbers(matfile.Single, numbers...))
}

func (s *small) column(name string, numbers ...float64) {
	s.doubles(name, len(numbers), 1, numbers...)
}

func (s *small) cells(name string, words ...string) {
	var data [][]byte
	for _, word := range words {
		data = append(data, matfile.Word("", word))
	}
	s.put(name, matlab.Cell, []int{len(words), 1}, data...)
}

// drop removes variables and files by name.
func (s *small) drop(names ...string) {
	for _, name := range names {
		delete(s.texts, name)
		delete(s.features, name)
		delete(s.att, name)
	}
}

// write makes the folder and returns its path.
func (s *small) write(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "Small")
	for name, text := range s.texts {
		testkit.Write(t, dir, name, text)
	}
	for name, vars := range map[string]map[string][]byte{s.featureFile: s.features, attSplitsFile: s.att} {
		testkit.Write(t, dir, name, string(matfile.File(slices.Collect(maps.Values(vars))...)))
	}
	return dir
}

// smallDataset is what newSmall must be read as.
func smallDataset() *dataset.Dataset {
	d := &dataset.Dataset{
		Name:         "small",
		Features:     dataset.NewMatrix[float32](12, 2),
		Labels:       []int{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5},
		Classes:      smallClasses,
		Attributes:   []dataset.Attribute{{Name: "size::big", Group: 0}, {Name: "size::small", Group: 0}, {Name: "colour::red", Group: 1}},
		Groups:       []string{"size", "colour"},
		Descriptions: dataset.NewMatrix[float64](6, 3),
		Split:        dataset.Split{Train: []int{0, 1, 2}, Val: []int{3}, Test: []int{4, 5}},
		TestSeen:     []int{6, 9},
	}
	for i := range d.Features.Data {
		d.Features.Data[i] = float32(i) / 4
	}
	for i, p := range smallPercent {
		d.Descriptions.Data[i] = p / 100
	}
	d.FeaturesSum = dataset.SumFeatures(d.Features)
	return d
}

func wantSame(t *testing.T, want, got *dataset.Dataset) {
	t.Helper()
	testkit.Equal(t, "found", got, want,
		cmpopts.IgnoreFields(dataset.Dataset{}, "Source", "DevSplits"),
		cmpopts.EquateApprox(0, 1e-7), cmpopts.EquateNaNs())
}

func loadSmall(t *testing.T, s *small, devSplit int) (*dataset.Dataset, error) {
	t.Helper()
	return Load(t.Context(), s.write(t), devSplit)
}
