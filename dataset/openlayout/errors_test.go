package openlayout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset/features"
)

func TestLoadRefuses(t *testing.T) {
	replace := func(name, old, changed string) func(*testing.T, texts) {
		return func(t *testing.T, f texts) { f.replace(t, name, old, changed) }
	}
	set := func(name, text string) func(*testing.T, texts) {
		return func(_ *testing.T, f texts) { f[name] = text }
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, f texts)
		want  []string
	}{
		{"an unknown class in labels", replace(labelsFile, "\ncat", "\nkat"), []string{
			`labels.csv: line 4, column class: expected one of the 4 classes of classes.csv, found "kat". Did you mean cat?`,
		}},
		{"a class in another case", replace(labelsFile, "dog,", "Dog,"), []string{
			`labels.csv: line 5, column class: expected one of the 4 classes of classes.csv, found "Dog". Did you mean dog?`,
		}},
		{"an empty class", replace(labelsFile, "bee,f", ",f"), []string{`labels.csv: line 7, column class: expected one of the 4 classes of classes.csv, found an empty cell`}},
		{"an id twice", replace(labelsFile, "d.jpg", "a.jpg"), []string{`labels.csv: line 5, column id: expected a different name on each line, found "a.jpg", which is also on line 2`}},
		{"no id", replace(labelsFile, "d.jpg", ""), []string{`labels.csv: line 5, column id: expected a name, found an empty cell`}},
		{"neither yes nor no", replace(labelsFile, "yes", "maybe"), []string{`labels.csv: line 6, column test_seen: expected yes or no (true or false, 1 or 0; empty means no), found "maybe"`}},
		{"a sample of a test class held out", replace(labelsFile, "d.jpg,no", "d.jpg,yes"), []string{`labels.csv: line 5, column test_seen: expected no, except for samples of train and val classes, found yes for a sample of "dog", which is a test class`}},
		{"a misspelt column", replace(labelsFile, "test_seen", "testseen"), []string{`labels.csv: line 1: expected only the columns class, id, test_seen, found "testseen". Did you mean test_seen?`}},
		{"no column of classes", replace(labelsFile, "class,", "label,"), []string{
			`labels.csv: line 1: expected a column class, found "label,id,test_seen"`,
			`labels.csv: line 1: expected only the columns class, id, test_seen, found "label"`,
		}},
		{"a column twice", replace(labelsFile, "id", "class"), []string{`labels.csv: line 1: expected each column once, found "class" twice`}},
		{"a line too short", replace(labelsFile, "cat,c.jpg,no", "cat,c.jpg"), []string{`labels.csv: line 4: expected 3 cells, one for each column, found 2`}},
		{"an empty file", set(SplitsFile, ""), []string{`splits.csv: expected a header with the names of the columns, found an empty file`}},
		{"control characters", replace(attributesFile, "flies,flight", "flies,fli\x1bght"), []string{`attributes.csv: line 4, column group: expected a name without control characters, found "fli\x1bght"`}},

		{"an attribute twice", replace(attributesFile, "legs::six,", "legs::four,"), []string{
			`attributes.csv: line 3, column name: expected a different name on each line, found "legs::four", which is also on line 2`,
			`classes.csv: line 1, column 3: expected the name of an attribute of attributes.csv, found "legs::six"`,
		}},
		{"a group missing", replace(attributesFile, "legs::six,legs", "legs::six,"), []string{`attributes.csv: line 3, column group: expected a group for every attribute, or for none, found none for "legs::six"`}},
		{"an attribute without a column", replace(attributesFile, "flies,flight\n", "flies,flight\nswims,water\n"), []string{`classes.csv: line 1: expected a column for every attribute of attributes.csv, found none for "swims"`}},
		{"a column of no attribute", replace(classesFile, "flies", "flys"), []string{
			`classes.csv: line 1, column 4: expected the name of an attribute of attributes.csv, found "flys". Did you mean flies?`,
			`classes.csv: line 1: expected a column for every attribute of attributes.csv, found none for "flies"`,
		}},
		{"a class twice", replace(classesFile, "bee,", "ant,"), []string{
			`classes.csv: line 3, column class: expected a different name on each line, found "ant", which is also on line 2`,
			`labels.csv: line 3, column class: expected one of the 4 classes of classes.csv, found "bee"`,
			`labels.csv: line 7, column class: expected one of the 4 classes of classes.csv, found "bee"`,
			`splits.csv: line 3, column class: expected one of the 4 classes of classes.csv, found "bee"`,
			`splits.csv: column part: expected at least one val class, found none`,
		}},
		{"percent", replace(classesFile, "ant,0,1,", "ant,0,100,"), []string{`classes.csv: line 2, column legs::six: expected a number from 0 to 1, one of never, no, rarely, sometimes, often, always, yes, or nothing if it is not described, found "100", which looks like a percentage: write 1`}},
		{"a negative number", replace(classesFile, "dog,1,0,", "dog,1,0,-1"), []string{`classes.csv: line 5, column flies: expected a number from 0 to 1, one of never, no, rarely, sometimes, often, always, yes, or nothing if it is not described, found "-1"`}},

		{"an unknown part", replace(SplitsFile, "dog,test", "dog,Test"), []string{
			`splits.csv: line 5, column part: expected train, val or test, or nothing for a class that is left out, found "Test". Did you mean test?`,
		}},
		{"no val classes", replace(SplitsFile, "bee,val", "bee,train"), []string{`splits.csv: column part: expected at least one val class, found none`}},
		{"a class in two parts", replace(SplitsFile, "dog,test,test", "dog,test,test\nant,test,test"), []string{`splits.csv: line 6, column class: expected every class once, found "ant", which is also on line 2`}},
		{"a class in no line", replace(SplitsFile, "cat,train,train\n", ""), []string{`splits.csv: class "cat": expected a line for every class of classes.csv, with an empty part for a class that is left out, found none`}},
		{"an unseen class that is seen in another split", replace(SplitsFile, "dog,test,test", "dog,test,train"), []string{
			`splits.csv: line 5, column part2: expected "test", as in part, found "train"`,
			`splits.csv: column part2: expected at least one test class, found none`,
		}},
		{"a seen class that is left out of another split", replace(SplitsFile, "cat,train,train", "cat,train,"), []string{`splits.csv: line 4, column part2: expected train or val, as in part, found ""`}},
		{"a third split without a second", replace(SplitsFile, "part2", "part3"), []string{`splits.csv: line 1: expected a column part2 before part3, found "class,part,part3"`}},

		{"a sample too few", replace(featuresCSV, "10,-0.5\n", ""), []string{`features.csv: expected 6 samples, one for each line of labels.csv, found 5`}},
		{"an image too few", func(_ *testing.T, f texts) {
			f[labelsFile] = "class\nant\nbee\ncat\ndog\nant\nbee\n"
			f[imagesFile] = "path\na.png\n"
		}, []string{`images.csv: expected 6 lines, one for each of labels.csv, found 1`}},
		{"a record cut short", func(_ *testing.T, f texts) { f[extractFile] = "{" }, []string{`extract.json: expected the record that dataset extract writes, found another file: unexpected end of JSON input`}},
		{"another record", func(_ *testing.T, f texts) { f[extractFile] = "{}" }, []string{`extract.json: expected the record that dataset extract writes, found another file`}},
		{"ragged features", replace(featuresCSV, "2,3\n", "2\n"), []string{`features.csv: line 2: expected 2 numbers, as in the line before, found 1`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newSmall()
			c.spoil(t, f)
			_, err := Load(t.Context(), f.write(t), Options{})
			wantErrors(t, err, c.want...)
		})
	}
}

func TestLoadReportsEveryProblem(t *testing.T) {
	f := newSmall()
	delete(f, attributesFile)
	f.replace(t, featuresCSV, "2,3", "2,x")
	f.replace(t, featuresCSV, "6,7", "6")
	f.replace(t, SplitsFile, "dog,test", "dog,")
	f[labelsFile] = "class\n" + strings.Repeat("eel\n", 8)
	_, err := Load(t.Context(), f.write(t), Options{})
	var want []string
	want = append(want, "attributes.csv: no such file or directory")
	for line := 2; line <= 6; line++ {
		want = append(want, fmt.Sprintf(`labels.csv: line %d, column class: expected one of the 4 classes of classes.csv, found "eel"`, line))
	}
	wantErrors(t, err, append(want,
		"labels.csv: expected one of the 4 classes of classes.csv, found 3 more, the last at line 9, column class",
		`splits.csv: line 5, column part2: expected "", as in part, found "test"`,
		"splits.csv: column part: expected at least one test class, found none",
		`features.csv: line 2, column 2: expected a number, found "x"`,
		"features.csv: line 4: expected 2 numbers, as in the line before, found 1",
		"features.csv: expected 8 samples, one for each line of labels.csv, found 6",
	)...)
}

func TestLoadNeedsOneFileOfFeatures(t *testing.T) {
	f := newSmall()
	dir := f.write(t)
	if err := features.WriteNPY(filepath.Join(dir, FeaturesFile), smallDataset().Features); err != nil {
		t.Fatal(err)
	}
	_, err := Load(t.Context(), dir, Options{})
	wantErrors(t, err, ": expected features.npy or features.csv, found both")
	if err := os.Remove(filepath.Join(dir, featuresCSV)); err != nil {
		t.Fatal(err)
	}
	got, err := Load(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := diffDatasets(smallDataset(), got); diff != "" {
		t.Errorf("with features.npy (-want +got):\n%s", diff)
	}
	delete(f, featuresCSV)
	_, err = Load(t.Context(), f.write(t), Options{})
	wantErrors(t, err, ": expected features.npy or features.csv, found neither")
}

func TestLoadMissingFolder(t *testing.T) {
	_, err := Load(t.Context(), filepath.Join(t.TempDir(), "Small"), Options{})
	wantErrors(t, err,
		"attributes.csv: no such file or directory",
		"classes.csv: no such file or directory",
		"labels.csv: no such file or directory",
		"splits.csv: no such file or directory",
		": expected features.npy or features.csv, found neither")
}
