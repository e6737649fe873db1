package openlayout

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

// texts are the files of a folder, which tests change before they write it.
type texts map[string]string

// newSmall has 6 samples of 2 features, 4 classes and 3 attributes.
func newSmall() texts {
	return texts{
		featuresCSV:    "0,1\n2,3\n4,5\n6,7\n8,9\n10,-0.5\n",
		labelsFile:     "class,id,test_seen\nant,a.jpg,no\nbee,b.jpg,no\ncat,c.jpg,no\ndog,d.jpg,no\nant,e.jpg,yes\nbee,f.jpg,no\n",
		ClassesFile:    "class,legs::four,legs::six,flies\nant,0,1,rarely\nbee,0,1,1\ncat,yes,no,0\ndog,1,0,\n",
		AttributesFile: "name,group\nlegs::four,legs\nlegs::six,legs\nflies,flight\n",
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
func (f texts) write(t testkit.TB, parent string) string {
	t.Helper()
	dir := filepath.Join(parent, "Small")
	testkit.NoError(t, os.MkdirAll(dir, 0o777))
	for name, text := range f {
		testkit.Write(t, dir, name, text)
	}
	return dir
}

// replace changes a text of a file, which must be there.
func (f texts) replace(t testkit.TB, name, old, changed string) {
	t.Helper()
	if !strings.Contains(f[name], old) {
		t.Fatalf("there is no %q in %s", old, name)
	}
	f[name] = strings.Replace(f[name], old, changed, 1)
}

// wantSame checks that a data set is the wanted one, apart from its folder.
func wantSame(t testkit.TB, want, got *dataset.Dataset) {
	t.Helper()
	testkit.Equal(t, "found", got, want, cmpopts.IgnoreFields(dataset.Dataset{}, "Source", "DevSplits"), cmpopts.EquateNaNs())
}

// Folders that are read as the same data.
func TestLoadVariants(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, f texts, want *dataset.Dataset){
		"as it is": func(*testing.T, texts, *dataset.Dataset) {},
		"columns in another order, parts in another case": func(_ *testing.T, f texts, _ *dataset.Dataset) {
			f[ClassesFile] = "flies,class,legs::six,legs::four\nrarely,ant,1,0\n1,bee,1,0\n0,cat,0,1\n,dog,0,1\n"
			f[AttributesFile] = "group,name\nlegs,legs::four\nlegs,legs::six\nflight,flies\n"
			f[SplitsFile] = "Part,CLASS\nTrain,ant\nVAL,bee\ntrain,cat\ntest,dog\n"
		},
		"held-out samples of a class that is left out": func(_ *testing.T, f texts, want *dataset.Dataset) {
			f[SplitsFile] = "class,part\nant,\nbee,val\ncat,train\ndog,test\n"
			want.Split.Train, want.TestSeen = []int{2}, []int{}
		},
		"no ids": func(t *testing.T, f texts, want *dataset.Dataset) {
			want.IDs = nil
			f[labelsFile] = "test_seen,class\n,ant\n0,bee\nFalse,cat\nNO,dog\nTrue,ant\nno,bee\n"
		},
		"paths of images": func(t *testing.T, f texts, want *dataset.Dataset) {
			f[labelsFile] = "test_seen,class\n,ant\n0,bee\nFalse,cat\nNO,dog\nTrue,ant\nno,bee\n"
			f[imagesFile] = "path\nant/1.png\nbee/1.png\ncat/1.png\ndog/1.png\nant/2.png\nbee/2.png\n"
			f[ExtractFile] = `{"architecture":"resnet18","weights_sha256":"` + strings.Repeat("0", 64) + `","preprocessing":{"fit":"crop","size":224},"image_dir":"/birds"}`
			want.IDs = []string{"ant/1.png", "bee/1.png", "cat/1.png", "dog/1.png", "ant/2.png", "bee/2.png"}
			want.ImageDir = "/birds"
			want.Provenance = &dataset.Provenance{
				Architecture: "resnet18", WeightsSHA256: strings.Repeat("0", 64), Images: dataset.ImagePreprocessing{Fit: dataset.Crop, Size: 224},
			}
		},
		"none held out": func(t *testing.T, f texts, want *dataset.Dataset) {
			want.IDs, want.TestSeen = nil, nil
			f[labelsFile] = "class\nant\nbee\ncat\ndog\nant\nbee\n"
		},
		"no groups": func(t *testing.T, f texts, want *dataset.Dataset) {
			f[AttributesFile] = "name\nlegs::four\nlegs::six\nflies\n"
			want.Groups = nil
			for m := range want.Attributes {
				want.Attributes[m].Group = -1
			}
		},
		"a class left out, without samples or description": func(t *testing.T, f texts, want *dataset.Dataset) {
			f.replace(t, SplitsFile, "cat,train,train", "cat,,")
			f.replace(t, ClassesFile, "cat,yes,no,0", "cat,,,")
			f.replace(t, labelsFile, "cat", "ant")
			want.Split.Train, want.Labels[2] = []int{0}, 0
			copy(want.Descriptions.Row(2), []float64{math.NaN(), math.NaN(), math.NaN()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, want := newSmall(), smallDataset()
			change(t, f, want)
			got := testkit.Must(Load(t.Context(), f.write(t, t.TempDir()), Options{}))(t)
			wantSame(t, want, got)
			testkit.NoError(t, check.Errors(got))
		})
	}
}

func TestLoadDevSplit(t *testing.T) {
	f := newSmall()
	dir := f.write(t, t.TempDir())
	want := smallDataset()
	want.Split = dataset.Split{Train: []int{1, 2}, Val: []int{0}, Test: []int{3}}
	got := testkit.Must(Load(t.Context(), dir, Options{DevSplit: 2}))(t)
	wantSame(t, want, got)
	testkit.Equal(t, "all splits", got.DevSplits, []dataset.Split{smallDataset().Split, want.Split})
	for _, n := range []int{-1, 3} {
		_, err := Load(t.Context(), dir, Options{DevSplit: n})
		wantErrors(t, err, fmt.Sprintf("splits.csv: dev_split: expected 1 to 2, from the columns part, part2, found %d", n))
	}

	testkit.NoError(t, os.Remove(filepath.Join(dir, SplitsFile)))
	want.Split = dataset.Split{}
	wantSame(t, want, testkit.Must(Load(t.Context(), dir, Options{WithoutSplit: true}))(t))
}

// wantErrors checks that err joins the wanted errors of files in a folder Small.
func wantErrors(t *testing.T, err error, want ...string) {
	t.Helper()
	var e *invalid.Error
	if !errors.As(err, &e) || e.Where == "" {
		t.Fatalf("%#v is no *invalid.Error", err)
	}
	text := regexp.MustCompile(`(?m)^.*?[/\\]Small[/\\]?`).ReplaceAllString(err.Error(), "")
	testkit.Equal(t, "found", strings.Split(text, "\n"), want)
}

func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct {
		file, old, changed string
		want               []string
	}{
		{labelsFile, "\ncat", "\nkat", []string{
			`labels.csv: line 4, column class: expected one of the 4 classes of classes.csv, found "kat". Did you mean cat?`,
		}},
		{labelsFile, "test_seen", "recording", []string{`labels.csv: line 1: expected only the columns class, id, test_seen, source, found "recording"`}},
		{labelsFile, "test_seen\nant,no\nbee,no\ncat,no\ndog,no\nant,yes\nbee,no", "test_seen,source\nant,no,r1\nbee,no,\ncat,no,\ndog,no,r1\nant,yes,r1\nbee,no,", []string{
			`labels.csv: lines 2 and 6: expected one test_seen for all samples of the source "r1", found yes and no. Held-out samples are of sources that no model is trained on.`,
		}},
		{labelsFile, "yes", "maybe", []string{`labels.csv: line 6, column test_seen: expected yes or no (true or false, 1 or 0; empty means no), found "maybe"`}},

		{AttributesFile, "legs::six,legs", "legs::six,", []string{`attributes.csv: line 3, column group: expected ` + descriptions.AttributesForm + `, found ""`}},
		{ClassesFile, "flies", "flie", []string{
			`classes.csv: line 1: expected a column for every attribute of attributes.csv, found none for "flies"`,
			`classes.csv: line 1, column 4: expected the name of an attribute of attributes.csv, found "flie". Did you mean flies?`,
		}},
		{SplitsFile, "dog,test", "dog,tset", []string{
			`splits.csv: line 5, column part: expected train, val or test, or nothing for a class that is left out, found "tset". Did you mean test?`,
		}},
		{SplitsFile, "dog,test,test", "dog,val,val", []string{
			`splits.csv: expected at least one test class in column part, found none`,
			`splits.csv: expected at least one test class in column part2, found none`,
		}},
		{SplitsFile, "dog,test,test", "dog,test,train", []string{
			`splits.csv: line 5, column part2: expected what part has, or train and val exchanged, found "train", where part has "test"`,
		}},
		{SplitsFile, "part2", "part3", []string{`splits.csv: line 1: expected a column part2 before part3, found "class,part,part3"`}},

		{featuresCSV, "10,-0.5\n", "", []string{`features.csv: expected 6 samples, one for each line of labels.csv, found 5`}},
		{imagesFile, "", "path\na.png\n", []string{`images.csv: expected 6 samples, one for each line of labels.csv, found 1`}},
		{
			ExtractFile, "", `{"weights_sha256":"` + strings.Repeat("0", 64) + `","preprocessing":{"fit":"crop","size":100000000}}`,
			[]string{"extract.json: expected the record that dataset extract writes, found another file"},
		},
		{ExtractFile, "", "{}", []string{`extract.json: expected the record that dataset extract writes, found another file`}},
	} {
		t.Run(c.want[0], func(t *testing.T) {
			f := newSmall()
			f[labelsFile] = regexp.MustCompile(`,(id|\w.jpg)`).ReplaceAllString(f[labelsFile], "")
			f.replace(t, c.file, c.old, c.changed)
			_, err := Load(t.Context(), f.write(t, t.TempDir()), Options{})
			wantErrors(t, err, c.want...)
		})
	}
}

// The ids of labels.csv show that it was sorted, and images.csv was not.
func TestLoadRefusesSortedLabels(t *testing.T) {
	f := newSmall()
	f[imagesFile] = "path\na.jpg\nb.jpg\nd.jpg\nc.jpg\nf.jpg\nelsewhere.jpg\n"
	_, err := Load(t.Context(), f.write(t, t.TempDir()), Options{})
	var want []string
	for _, found := range []string{"4, column id: %s, found c.jpg", "5, column id: %s, found d.jpg", "7, column id: %s, found f.jpg"} {
		want = append(want, "labels.csv: line "+fmt.Sprintf(found, "expected the samples in the order of images.csv")+
			". Was the file sorted? Bring its lines back into the order of images.csv, that of the features.")
	}
	wantErrors(t, err, want...)
}

func TestLoadReportsEveryProblem(t *testing.T) {
	f := newSmall()
	f.replace(t, featuresCSV, "2,3", "2,x")
	f.replace(t, featuresCSV, "6,7", "6")
	f.replace(t, SplitsFile, "dog,test", "dog,")
	f[labelsFile] = "class\neel\n"
	_, err := Load(t.Context(), f.write(t, t.TempDir()), Options{})
	wantErrors(t, err,
		`labels.csv: line 2, column class: expected one of the 4 classes of classes.csv, found "eel"`,
		`splits.csv: line 5, column part2: expected what part has, or train and val exchanged, found "test", where part has ""`,
		`features.csv: line 2, column 2: expected a number, found "x"`,
		"features.csv: line 4: expected 2 numbers, as in the line before, found 1",
		"features.csv: expected 1 sample, one for each line of labels.csv, found 6",
	)
}

func TestLoadNeedsOneFileOfFeatures(t *testing.T) {
	dir := newSmall().write(t, t.TempDir())
	testkit.NoError(t, tiny.WriteNPY(filepath.Join(dir, FeaturesFile), smallDataset().Features))
	_, err := Load(t.Context(), dir, Options{})
	wantErrors(t, err, ": expected features.npy or features.csv, found both")
	testkit.NoError(t, os.Remove(filepath.Join(dir, featuresCSV)))
	wantSame(t, smallDataset(), testkit.Must(Load(t.Context(), dir, Options{}))(t))
	testkit.NoError(t, os.Remove(filepath.Join(dir, FeaturesFile)))
	_, err = Load(t.Context(), dir, Options{})
	wantErrors(t, err, ": expected the features of samples in features.npy or features.csv, found neither")
}

// Of what is not there, one sentence names the first part.
func TestLoadNamesWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		missing []string
		want    string
	}{
		{[]string{featuresCSV, ClassesFile}, "the features of samples in features.npy or features.csv, found neither"},
		{[]string{labelsFile, SplitsFile}, "the class of each sample in labels.csv, found no such file"},
		{[]string{AttributesFile, ClassesFile, SplitsFile}, "descriptions of the classes in attributes.csv and classes.csv, found neither"},
		{[]string{AttributesFile}, "the attributes that describe classes in attributes.csv, found none"},
		{[]string{ClassesFile}, "the descriptions of classes in classes.csv, found no such file"},
		{[]string{SplitsFile}, "train, val and test classes in splits.csv, found no such file"},
	} {
		f := newSmall()
		for _, name := range c.missing {
			delete(f, name)
		}
		_, err := Load(t.Context(), f.write(t, t.TempDir()), Options{})
		wantErrors(t, err, ": expected "+c.want)
	}
}

// A split has no lines of classes without samples, which may be renamed or deleted.
func TestWriteSplit(t *testing.T) {
	d, path := smallDataset(), filepath.Join(t.TempDir(), SplitsFile)
	d.Classes = append(slices.Clone(d.Classes), "emu")
	testkit.NoError(t, WriteSplit(path, d, d.Split))
	testkit.Equal(t, "lines", strings.Count(testkit.Read(t, path), "\n"), len(d.Classes))
	testkit.Equal(t, "split", testkit.Must(ReadSplits(t.Context(), path, d))(t), []dataset.Split{d.Split})
}

// FuzzLoad holds that whatever the files of a folder are, they end in a data set that check.Errors checks, or
// in errors that name their file.
func FuzzLoad(f *testing.F) {
	small := newSmall()
	f.Add(small[featuresCSV], small[labelsFile], small[ClassesFile], small[AttributesFile], small[SplitsFile])
	f.Add("1\n2\n3\n", "class\na\nb\nc\n", "class,x\na,1\nb,\nc,no\n", "name\nx\n", "part,class\ntrain,a\nval,b\ntest,c\n")
	f.Add("1\nnan\n", "\ufeffclass,id\r\na,\"\n", "class,class\n,\n", "group,name\n,\n", "class;part")
	f.Fuzz(func(t *testing.T, features, labels, classes, attributes, splits string) {
		dir := texts{featuresCSV: features, labelsFile: labels, ClassesFile: classes, AttributesFile: attributes, SplitsFile: splits}.write(t, t.TempDir())
		d, err := Load(t.Context(), dir, Options{})
		if err != nil {
			var e *invalid.Error
			if !errors.As(err, &e) || filepath.Dir(e.Where) != dir && e.Where != dir {
				t.Fatalf("%#v does not name the file", err)
			}
			return
		}
		_ = check.Errors(d) // does not panic
	})
}

// Reading completes what the files lack, and writing keeps what they have, also where a kill left
// attributes.csv with an attribute more.
func TestDescriptions(t *testing.T) {
	dir := texts{
		labelsFile:     "class\nwren\nowl\nwren\n",
		AttributesFile: "name,group\nred,colour\nblue,colour\n",
		ClassesFile:    "red,class\n\"50%\",owl\n",
	}.write(t, t.TempDir())
	d := testkit.Must(ReadDescriptions(t.Context(), dir))(t)
	testkit.Equal(t, "classes", d.Classes, []string{"owl", "wren"})
	testkit.Equal(t, "added", []int{d.Added.Classes, d.Added.Attributes}, []int{1, 1})
	testkit.NearAll(t, "values", d.Values().Data, []float64{0.5, math.NaN(), math.NaN(), math.NaN()}, 0)
	testkit.Equal(t, "percentage", d.Scale()(0.1), "10%")
	testkit.NoError(t, d.Save())
	testkit.NoError(t, d.Save()) // what it wrote itself is no change
	for name, want := range map[string]string{
		AttributesFile: "name,group\nred,colour\nblue,colour\n", ClassesFile: "class,red,blue\nowl,50%,\nwren,,\n",
	} {
		testkit.Equal(t, name, testkit.Read(t, filepath.Join(dir, name)), want)
	}
	testkit.Write(t, dir, ClassesFile, "class,red,blue\nowl,60%,\n")
	d.AddClasses("emu")
	testkit.WantError(t, d.Save(), descriptions.ErrChanged.Error())
	testkit.WantText(t, testkit.Read(t, filepath.Join(dir, ClassesFile)), "60%")
}

// What classes.csv could not hold is refused before it is written.
func TestReadDescriptionsRefusesNames(t *testing.T) {
	for _, name := range []string{`""`, "a\u202eb", "a\u2028b", "a\ufeffb", "a\vb"} {
		_, err := ReadDescriptions(t.Context(), texts{labelsFile: "class,id\nowl,1\n" + name + ",2\n"}.write(t, t.TempDir()))
		testkit.WantError(t, err, "labels.csv: line 3, column class: expected a name")
	}
}
