package openlayout

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

func diffDatasets(want, got *dataset.Dataset) string {
	return cmp.Diff(want, got, cmpopts.IgnoreFields(dataset.Dataset{}, "Source", "DevSplits"), cmpopts.EquateNaNs())
}

// Folders that are read as the same data.
func TestLoadVariants(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, f texts, want *dataset.Dataset){
		"as it is": func(*testing.T, texts, *dataset.Dataset) {},
		"windows, spaces and blank lines": func(_ *testing.T, f texts, _ *dataset.Dataset) {
			for name, text := range f {
				f[name] = "\ufeff" + strings.NewReplacer("\n", " \r\n\r\n", ",", " , ").Replace(text)
			}
		},
		"columns in another order": func(_ *testing.T, f texts, _ *dataset.Dataset) {
			f[classesFile] = "flies,class,legs::six,legs::four\nrarely,ant,1,0\n1,bee,1,0\n0,cat,0,1\n,dog,0,1\n"
			f[attributesFile] = "group,name\nlegs,legs::four\nlegs,legs::six\nflight,flies\n"
			f[SplitsFile] = "part,class\ntrain,ant\nval,bee\ntrain,cat\ntest,dog\n"
		},
		"lines of splits in another order": func(_ *testing.T, f texts, _ *dataset.Dataset) {
			f[SplitsFile] = "class,part\ndog,test\ncat,train\nbee,val\nant,train\n"
		},
		"quoted names": func(t *testing.T, f texts, want *dataset.Dataset) {
			for _, file := range []string{labelsFile, classesFile, SplitsFile} {
				f[file] = strings.ReplaceAll(f[file], "ant,", `"ant, ""red""",`)
			}
			want.Classes[0] = `ant, "red"`
		},
		"names above the features": func(_ *testing.T, f texts, _ *dataset.Dataset) { f[featuresCSV] = "f0,f1\n" + f[featuresCSV] },
		"no ids": func(t *testing.T, f texts, want *dataset.Dataset) {
			want.IDs = nil
			f[labelsFile] = "test_seen,class\n,ant\n0,bee\nFalse,cat\nNO,dog\nTrue,ant\nno,bee\n"
		},
		"paths of images": func(t *testing.T, f texts, want *dataset.Dataset) {
			f[labelsFile] = "test_seen,class\n,ant\n0,bee\nFalse,cat\nNO,dog\nTrue,ant\nno,bee\n"
			f[imagesFile] = "path\nant/1.png\nbee/1.png\ncat/1.png\ndog/1.png\nant/2.png\nbee/2.png\n"
			f[extractFile] = `{"architecture":"resnet18","weights_sha256":"` + strings.Repeat("0", 64) + `","preprocessing":{"fit":"crop","size":224},"image_dir":"/birds"}`
			want.IDs = []string{"ant/1.png", "bee/1.png", "cat/1.png", "dog/1.png", "ant/2.png", "bee/2.png"}
			want.ImageDir = "/birds"
			want.Provenance = &dataset.Provenance{
				Architecture: "resnet18", WeightsSHA256: strings.Repeat("0", 64), Images: dataset.ImagePreprocessing{Fit: dataset.Crop, Size: 224},
			}
		},
		"none held out": func(t *testing.T, f texts, want *dataset.Dataset) {
			want.IDs = nil
			f[labelsFile] = "class\nant\nbee\ncat\ndog\nant\nbee\n"
			want.TestSeen = nil
		},
		"no groups": func(t *testing.T, f texts, want *dataset.Dataset) {
			f[attributesFile] = "name\nlegs::four\nlegs::six\nflies\n"
			want.Groups = nil
			for m := range want.Attributes {
				want.Attributes[m].Group = -1
			}
		},
		"empty groups": func(t *testing.T, f texts, want *dataset.Dataset) {
			f[attributesFile] = "name,group\nlegs::four,\nlegs::six,\nflies,\n"
			want.Groups = nil
			for m := range want.Attributes {
				want.Attributes[m].Group = -1
			}
		},
		"a class left out": func(t *testing.T, f texts, want *dataset.Dataset) {
			f.replace(t, SplitsFile, "cat,train,train", "cat,,")
			want.Split.Train = []int{0}
		},
		"a class left out, without samples or description": func(t *testing.T, f texts, want *dataset.Dataset) {
			f.replace(t, SplitsFile, "cat,train,train", "cat,,")
			f.replace(t, classesFile, "cat,yes,no,0", "cat,,,")
			f.replace(t, labelsFile, "cat", "ant")
			want.Split.Train, want.Labels[2] = []int{0}, 0
			copy(want.Descriptions.Row(2), []float64{math.NaN(), math.NaN(), math.NaN()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, want := newSmall(), smallDataset()
			change(t, f, want)
			got, err := Load(t.Context(), f.write(t), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := diffDatasets(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err := dataset.Check(got); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLoadDevSplit(t *testing.T) {
	dir := newSmall().write(t)
	want := smallDataset()
	want.Split = dataset.Split{Train: []int{1, 2}, Val: []int{0}, Test: []int{3}}
	got, err := Load(t.Context(), dir, Options{DevSplit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := diffDatasets(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]dataset.Split{smallDataset().Split, want.Split}, got.DevSplits); diff != "" {
		t.Errorf("all splits (-want +got):\n%s", diff)
	}
	_, err = Load(t.Context(), dir, Options{DevSplit: 3})
	wantErrors(t, err, "splits.csv: line 1: expected a column part3 for split 3, found \"class,part,part2\"")
	if _, err := Load(t.Context(), dir, Options{DevSplit: 4}); err == nil || !strings.Contains(err.Error(), "expected 1, 2 or 3, found 4") {
		t.Errorf("split 4: %v", err)
	}
}

func TestLoadWithoutSplit(t *testing.T) {
	f := newSmall()
	delete(f, SplitsFile)
	got, err := Load(t.Context(), f.write(t), Options{WithoutSplit: true})
	if err != nil {
		t.Fatal(err)
	}
	want := smallDataset()
	want.Split = dataset.Split{}
	if diff := diffDatasets(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// wantErrors checks that err joins the wanted errors of files in a folder Small.
func wantErrors(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("found no error")
	}
	var e *invalid.Error
	if !errors.As(err, &e) || e.Where == "" {
		t.Errorf("%#v is no *invalid.Error", err)
	}
	var got []string
	for line := range strings.Lines(err.Error()) {
		_, name, found := strings.Cut(line, string(filepath.Separator)+"Small")
		if !found {
			t.Errorf("no file: %s", line)
		}
		got = append(got, strings.TrimPrefix(strings.TrimSuffix(name, "\n"), string(filepath.Separator)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
