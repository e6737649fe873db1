package matlab

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sharedFile returns the path of a file in the folder shared/data beside the
// project.
func sharedFile(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "shared", "data", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("no shared/data/%s beside the project", name)
	return ""
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// The splits of the published data sets: their class names are those of the class
// lists, their locations name each image once, and the sums of the descriptions
// are those that scipy.io.loadmat gives.
func TestSharedSplits(t *testing.T) {
	for _, c := range []struct {
		folder             string
		attributes, images int
		originalSum        float64
	}{
		{"CUB127", 312, 7456, 449432.7229848504},
		{"xlsa17/CUB", 312, 11788, 710593.7462644577},
		{"xlsa17/AWA2", 85, 37322, 88370.22011836618},
		{"xlsa17/SUN", 102, 14340, 5917.10006846115},
	} {
		t.Run(c.folder, func(t *testing.T) {
			folder := filepath.Dir(sharedFile(t, c.folder+"/att_splits.mat"))
			classes := slices.Concat(lines(t, folder+"/trainvalclasses.txt"), lines(t, folder+"/testclasses.txt"))
			slices.Sort(classes)
			files, err := filepath.Glob(folder + "/att_splits*.mat")
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range files {
				a, err := Read(t.Context(), path, "allclasses_names", "original_att", "trainval_loc", "test_seen_loc", "test_unseen_loc")
				if err != nil {
					t.Fatal(err)
				}
				names := slices.Sorted(slices.Values(a["allclasses_names"].Strings))
				if diff := cmp.Diff(classes, names); diff != "" {
					t.Errorf("%s: class names (-want +got):\n%s", path, diff)
				}
				if diff := cmp.Diff([]int{c.attributes, len(classes)}, a["original_att"].Dims); diff != "" {
					t.Errorf("%s: original_att (-want +got):\n%s", path, diff)
				}
				checkSum(t, a["original_att"], c.originalSum)
				locations := slices.Concat(a["trainval_loc"].Float32, a["test_seen_loc"].Float32, a["test_unseen_loc"].Float32)
				slices.Sort(locations)
				for i, l := range locations {
					if l != float32(i+1) {
						t.Fatalf("%s: location %d is %v", path, i+1, l)
					}
				}
				if len(locations) != c.images {
					t.Errorf("%s: %d locations, want %d", path, len(locations), c.images)
				}
			}
		})
	}
}

func TestSharedFeatures(t *testing.T) {
	a, err := Read(t.Context(), sharedFile(t, "CUB127/res50.mat"), "features", "labels", "image_files")
	if err != nil {
		t.Fatal(err)
	}
	features := a["features"]
	if diff := cmp.Diff([]int{2048, 7456}, features.Dims); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	checkSum(t, features, 5429137.861509442) // by scipy.io.loadmat
	checkSum(t, a["labels"], 478695)
	files := a["image_files"].Strings
	if len(files) != 7456 || files[0] != "001.Black_footed_Albatross/Black_Footed_Albatross_0046_18.jpg" {
		t.Errorf("%d files, the first %q", len(files), files[0])
	}
}

func checkSum(t *testing.T, a *Array, want float64) {
	t.Helper()
	var sum float64
	for _, v := range a.Float32 {
		sum += float64(v)
	}
	if math.Abs(sum-want) > 1e-10*math.Abs(want) {
		t.Errorf("the sum of %s is %v, want %v", a.Name, sum, want)
	}
}
