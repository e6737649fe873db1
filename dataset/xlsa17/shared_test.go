package xlsa17

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
)

// sharedData returns a folder of the shared data, or skips the test if there is none.
func sharedData(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "shared", "data", filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("no folder shared/data/%s beside the project", name)
	return ""
}

// sizes are the numbers of samples, classes in all and in each part, attributes, groups.
type sizes struct {
	Samples, Classes, Train, Val, Test, Attributes, Groups int
}

func sizesOf(d *dataset.Dataset) sizes {
	return sizes{
		len(d.Labels), len(d.Classes), len(d.Split.Train), len(d.Split.Val), len(d.Split.Test),
		len(d.Attributes), len(d.Groups),
	}
}

// The paper's data sets as they were released, but for the features. The percentage of one
// class and attribute is copied from the text file.
func TestReleasedFolders(t *testing.T) {
	for _, set := range []struct {
		name        string
		want        sizes
		class       string
		attribute   string
		percent     float64
		undescribed int
	}{
		{"CUB", sizes{11788, 200, 100, 50, 50, 312, 28}, "001.Black_footed_Albatross", "has_bill_shape::hooked_seabird", 59.8540145985, 0},
		{"AWA2", sizes{37322, 50, 27, 13, 10, 85, 11}, "antelope", "color::gray", 12.34, 4},
		{"SUN", sizes{14340, 717, 580, 65, 72, 102, 4}, "abbey", "functions/affordance::vacationing/touring", 45, 0},
	} {
		for _, splits := range []string{"att_splits.mat", "att_splits-without-train_loc.mat"} {
			t.Run(set.name+"/"+splits, func(t *testing.T) {
				released := sharedData(t, "xlsa17/"+set.name)
				labels := labelsByLocation(t, released)
				dir := withSplits(t, released, splits)
				var parts []dataset.Split
				for dev := 1; dev <= 3; dev++ {
					d := withoutFeatures(t, dir, dev, labels)
					if diff := cmp.Diff(set.want, sizesOf(d)); diff != "" {
						t.Errorf("division %d (-want +got):\n%s", dev, diff)
					}
					if err := dataset.Check(d); err != nil {
						t.Errorf("division %d: %v", dev, err)
					}
					p := descriptionOf(t, d, set.class, set.attribute)
					if math.Abs(p-set.percent/100) > 1e-12 {
						t.Errorf("%s of %s is %v, want %v %%", set.attribute, set.class, p, set.percent)
					}
					if n := undescribed(d, set.class); n != set.undescribed {
						t.Errorf("%d attributes of %s are not described, want %d", n, set.class, set.undescribed)
					}
					parts = append(parts, d.Split)
				}
				if cmp.Equal(parts[0], parts[1]) || cmp.Equal(parts[1], parts[2]) {
					t.Error("two divisions are the same")
				}
				if !cmp.Equal(parts[0].Seen(), parts[1].Seen()) || !cmp.Equal(parts[1].Seen(), parts[2].Seen()) {
					t.Error("the divisions differ in what is seen")
				}
			})
		}
	}
}

// labelsByLocation gives each sample a class of the part in which the released locations
// have it; its true class is only in the file of the features.
func labelsByLocation(t *testing.T, dir string) []int {
	t.Helper()
	d, err := openFolder(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	loc := d.locations
	labels := make([]int, len(loc[trainvalLoc])+len(loc[testSeenLoc])+len(loc[testUnseenLoc]))
	for _, c := range []struct{ list, variable string }{
		{"trainvalclasses.txt", testSeenLoc}, // some are of train_loc or val_loc as well, which follow
		{"trainclasses1.txt", trainLoc},
		{"valclasses1.txt", valLoc},
		{"testclasses.txt", testUnseenLoc},
	} {
		classes, err := d.readClassList(filepath.Join(dir, c.list))
		if err != nil {
			t.Fatal(err)
		}
		for n, i := range loc[c.variable] {
			labels[i] = classes[n%len(classes)]
		}
	}
	return labels
}

// withSplits copies a folder with one of its files as att_splits.mat.
func withSplits(t *testing.T, released, splits string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(released))
	if err := os.CopyFS(dir, os.DirFS(released)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, splits), filepath.Join(dir, "att_splits.mat")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// withoutFeatures reads a data set without its features.
func withoutFeatures(t *testing.T, dir string, dev int, labels []int) *dataset.Dataset {
	t.Helper()
	log, _ := quietLog()
	f, err := openFolder(t.Context(), dir)
	if err == nil {
		err = errors.Join(f.readDescriptions(), f.readAttributes(log))
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := f.dataset(&features{file: "no file", values: dataset.NewMatrix[float32](len(labels), 1), labels: labels}, dev)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func descriptionOf(t *testing.T, d *dataset.Dataset, class, attribute string) float64 {
	t.Helper()
	z := slices.Index(d.Classes, class)
	m := slices.IndexFunc(d.Attributes, func(a dataset.Attribute) bool { return a.Name == attribute })
	if z < 0 || m < 0 {
		t.Fatalf("class %q is %d, attribute %q is %d", class, z, attribute, m)
	}
	return d.Descriptions.Row(z)[m]
}

// undescribed counts the missing entries of a class. It returns -1 if another class has
// any.
func undescribed(d *dataset.Dataset, class string) int {
	n := 0
	for z, name := range d.Classes {
		for _, p := range d.Descriptions.Row(z) {
			switch {
			case !math.IsNaN(p):
			case name != class:
				return -1
			default:
				n++
			}
		}
	}
	return n
}

// CUB127 is read from its files and then from the cache.
func TestCUB127(t *testing.T) {
	dir := sharedData(t, "CUB127")
	log, hook := quietLog()
	opts := Options{CacheDir: t.TempDir(), Log: log}
	fresh := loadWithin(t, 1.3, dir, opts)
	if err := dataset.Check(fresh); err != nil {
		t.Error(err)
	}
	if fresh.Name != "cub127" || fresh.Features.Rows != 7456 || fresh.Features.Cols != 2048 {
		t.Errorf("%q has %d x %d features", fresh.Name, fresh.Features.Rows, fresh.Features.Cols)
	}
	files, err := matlab.Read(t.Context(), filepath.Join(dir, "res50.mat"), "image_files")
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files["image_files"].Strings {
		if class, _, _ := strings.Cut(file, "/"); class != fresh.Classes[fresh.Labels[i]] {
			t.Fatalf("sample %d, %s, is of class %q", i, file, fresh.Classes[fresh.Labels[i]])
		}
	}
	for dev, want := range []sizes{
		{7456, 127, 64, 30, 33, 312, 28},
		{7456, 127, 61, 33, 33, 312, 28},
		{7456, 127, 62, 32, 33, 312, 28},
	} {
		hook.Reset()
		opts.DevSplit = dev + 1
		d := loadWithin(t, 1.3, dir, opts)
		if diff := cmp.Diff(want, sizesOf(d)); diff != "" {
			t.Errorf("division %d (-want +got):\n%s", opts.DevSplit, diff)
		}
		if last := hook.LastEntry(); last == nil || last.Message != msgFromCache {
			t.Errorf("division %d was not read from the cache", opts.DevSplit)
		}
		if opts.DevSplit == 1 && !(slices.Equal(d.Features.Data, fresh.Features.Data) && slices.Equal(d.Labels, fresh.Labels)) {
			t.Error("the cache differs from the file")
		}
	}
}

// loadWithin checks that all memory allocated while a data set is read is within a
// multiple of the size of its features.
func loadWithin(t *testing.T, times float64, dir string, opts Options) *dataset.Dataset {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d, err := Load(t.Context(), dir, opts)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	size := 4 * float64(len(d.Features.Data))
	if took := float64(after.TotalAlloc - before.TotalAlloc); took > times*size {
		t.Errorf("reading %.1f MB of features takes %.1f MB of memory", size/1e6, took/1e6)
	} else {
		t.Logf("reading %.1f MB of features takes %.1f MB of memory", size/1e6, took/1e6)
	}
	return d
}
