package openlayout

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
)

// texts are the files of a folder, which tests change before they write it.
type texts map[string]string

// newSmall has 6 samples of 2 features, 4 classes and 3 attributes.
func newSmall() texts {
	return texts{
		featuresCSV:    "0,1\n2,3\n4,5\n6,7\n8,9\n10,-0.5\n",
		labelsFile:     "class,id,test_seen\nant,a.jpg,no\nbee,b.jpg,no\ncat,c.jpg,no\ndog,d.jpg,no\nant,e.jpg,yes\nbee,f.jpg,no\n",
		classesFile:    "class,legs::four,legs::six,flies\nant,0,1,rarely\nbee,0,1,1\ncat,yes,no,0\ndog,1,0,\n",
		attributesFile: "name,group\nlegs::four,legs\nlegs::six,legs\nflies,flight\n",
		SplitsFile:     "class,part,part2\nant,train,val\nbee,val,train\ncat,train,train\ndog,test,test\n",
	}
}

// smallDataset is what newSmall must be read as.
func smallDataset() *dataset.Dataset {
	return &dataset.Dataset{
		Name:         "small",
		Features:     dataset.Matrix[float32]{Rows: 6, Cols: 2, Data: []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -0.5}},
		Labels:       []int{0, 1, 2, 3, 0, 1},
		Classes:      []string{"ant", "bee", "cat", "dog"},
		Attributes:   []dataset.Attribute{{Name: "legs::four", Group: 0}, {Name: "legs::six", Group: 0}, {Name: "flies", Group: 1}},
		Groups:       []string{"legs", "flight"},
		Descriptions: dataset.Matrix[float64]{Rows: 4, Cols: 3, Data: []float64{0, 1, 0.1, 0, 1, 1, 1, 0, 0, 1, 0, math.NaN()}},
		Split:        dataset.Split{Train: []int{0, 2}, Val: []int{1}, Test: []int{3}},
		TestSeen:     []int{4},
		IDs:          []string{"a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg", "f.jpg"},
	}
}

// write makes the folder and returns its path.
func (f texts) write(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "Small")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range f {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// replace changes a text of a file, which must be there.
func (f texts) replace(t testing.TB, name, old, changed string) {
	t.Helper()
	if !strings.Contains(f[name], old) {
		t.Fatalf("there is no %q in %s", old, name)
	}
	f[name] = strings.Replace(f[name], old, changed, 1)
}
