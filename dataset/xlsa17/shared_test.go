//go:build shared

package xlsa17

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/testkit"
)

// sizes are the numbers of samples, classes in all and in each part, attributes, groups.
func sizes(d *dataset.Dataset) []int {
	return []int{
		len(d.Labels), len(d.Classes), len(d.Split.Train), len(d.Split.Val), len(d.Split.Test),
		len(d.Attributes), len(d.Groups),
	}
}

// The paper's data sets as they were released, but for the features. The percentage of one
// class and attribute is copied from the text file.
func TestReleasedFolders(t *testing.T) {
	for _, set := range []struct {
		name        string
		want        []int
		class       string
		attribute   string
		percent     float64
		undescribed int
	}{
		{"CUB", []int{11788, 200, 100, 50, 50, 312, 28}, "001.Black_footed_Albatross", "has_bill_shape::hooked_seabird", 59.8540145985, 0},
		{"AWA2", []int{37322, 50, 27, 13, 10, 85, 11}, "antelope", "color::gray", 12.34, 4},
		{"SUN", []int{14340, 717, 580, 65, 72, 102, 4}, "abbey", "functions/affordance::vacationing/touring", 45, 0},
	} {
		t.Run(set.name, func(t *testing.T) {
			dir := testkit.Shared(t, "data", "xlsa17", set.name)
			labels := labelsByLocation(t, dir)
			var parts []dataset.Split
			for dev := 1; dev <= 3; dev++ {
				f := testkit.Must(openFolder(t.Context(), dir))(t)
				f.Features, f.Labels = dataset.NewMatrix[float32](len(labels), 1), labels
				testkit.NoError(t, f.readSplits(dev))
				d := &f.Dataset
				testkit.Equal(t, fmt.Sprintf("division %d", dev), sizes(d), set.want)
				testkit.NoError(t, check.Errors(d))
				u := d.Descriptions.Row(slices.Index(d.Classes, set.class))
				m := slices.IndexFunc(d.Attributes, func(a dataset.Attribute) bool { return a.Name == set.attribute })
				testkit.Near(t, set.attribute+" of "+set.class, u[m], set.percent/100, 1e-12)
				testkit.Equal(t, "entries that are not described", len(d.Descriptions.Data)-dataset.Described(d.Descriptions.Data), set.undescribed)
				parts = append(parts, d.Split)
			}
			if cmp.Equal(parts[0], parts[1]) || cmp.Equal(parts[1], parts[2]) || !cmp.Equal(parts[0].Seen(), parts[2].Seen()) {
				t.Error("divisions must differ, but not in what is seen")
			}
		})
	}
}

// labelsByLocation gives each sample a class of the part in which the released locations
// have it; its true class is only in the file of the features.
func labelsByLocation(t *testing.T, dir string) []int {
	t.Helper()
	d := testkit.Must(openFolder(t.Context(), dir))(t)
	testkit.NoError(t, d.readLocations(math.MaxInt32))
	loc := d.locations
	labels := make([]int, len(loc[trainvalLoc])+len(loc[testSeenLoc])+len(loc[testUnseenLoc]))
	for _, c := range []struct{ list, variable string }{
		{"trainvalclasses.txt", testSeenLoc}, // some are of train_loc or val_loc as well, which follow
		{"trainclasses1.txt", trainLoc},
		{"valclasses1.txt", valLoc},
		{"testclasses.txt", testUnseenLoc},
	} {
		classes := testkit.Must(d.readClassList(c.list))(t)
		for n, i := range loc[c.variable] {
			labels[i] = classes[n%len(classes)]
		}
	}
	return labels
}

// mostMemory bounds what is allocated while CUB127 is read, as a multiple of its features: there is no
// second copy of them. The race detector adds a little to the names and tables.
const mostMemory = 1.4

func TestCUB127(t *testing.T) {
	dir := testkit.Shared(t, "data", "CUB127")
	fresh := loadWithin(t, dir, 0)
	testkit.NoError(t, check.Errors(fresh))
	testkit.Equal(t, "name", fresh.Name, "cub127")
	testkit.Equal(t, "ids and features", []int{len(fresh.IDs), fresh.Features.Rows, fresh.Features.Cols}, []int{7456, 7456, 2048})
	testkit.Near(t, "sum of the features, as in scipy.io.loadmat", sum(fresh.Features.Data), 5429137.861509442, 1e-10)
	testkit.Near(t, "sum of the descriptions", 100*sum(fresh.Descriptions.Data), 449432.7229848504, 1e-9)
	for i, id := range fresh.IDs {
		class, _, _ := strings.Cut(id, "/")
		testkit.Equal(t, id, class, fresh.Classes[fresh.Labels[i]])
	}
	for dev, want := range [][]int{
		{7456, 127, 64, 30, 33, 312, 28},
		{7456, 127, 61, 33, 33, 312, 28},
		{7456, 127, 62, 32, 33, 312, 28},
	} {
		testkit.Equal(t, fmt.Sprintf("division %d", dev+1), sizes(loadWithin(t, dir, dev+1)), want)
	}
}

func sum[T float32 | float64](x []T) (s float64) {
	for _, v := range x {
		s += float64(v)
	}
	return s
}

// loadWithin checks that all memory allocated while a data set is read is within mostMemory.
func loadWithin(t *testing.T, dir string, devSplit int) *dataset.Dataset {
	t.Helper()
	var d *dataset.Dataset
	took := testkit.Allocated(func() { d = testkit.Must(Load(t.Context(), dir, devSplit))(t) })
	if size := 4 * float64(len(d.Features.Data)); float64(took) > mostMemory*size {
		t.Errorf("reading %.1f MB of features takes %.1f MB of memory, expected at most %g times as much", size/1e6, float64(took)/1e6, mostMemory)
	}
	return d
}
