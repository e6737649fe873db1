package openlayout

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// FuzzLoad holds that whatever the files of a folder are, they end in a data set
// that dataset.Check accepts and that is read as it is written, or in errors that
// name their file.
func FuzzLoad(f *testing.F) {
	add := func(t texts) {
		f.Add(t[featuresCSV], t[labelsFile], t[classesFile], t[attributesFile], t[SplitsFile])
	}
	add(newSmall())
	add(texts{featuresCSV: "1\n2\n3\n", labelsFile: "class\na\nb\nc\n", classesFile: "class,x\na,1\nb,\nc,no\n", attributesFile: "name\nx\n", SplitsFile: "part,class\ntrain,a\nval,b\ntest,c\n"})
	add(texts{featuresCSV: "1\nnan\n", labelsFile: "\ufeffclass,id\r\na,\"\n", classesFile: "class,class\n,\n", attributesFile: "group,name\n,\n", SplitsFile: "class;part"})
	f.Fuzz(func(t *testing.T, features, labels, classes, attributes, splits string) {
		dir := texts{featuresCSV: features, labelsFile: labels, classesFile: classes, attributesFile: attributes, SplitsFile: splits}.write(t)
		d, err := Load(t.Context(), dir, Options{})
		if err != nil {
			var e *invalid.Error
			if !errors.As(err, &e) || filepath.Dir(e.Where) != dir && e.Where != dir {
				t.Fatalf("%#v does not name the file", err)
			}
			return
		}
		if dataset.Check(d) != nil {
			return
		}
		if err := os.Remove(filepath.Join(dir, featuresCSV)); err != nil {
			t.Fatal(err)
		}
		if err := writable(d); err != nil {
			return // a cell may have characters that Write refuses
		}
		if err := Write(dir, d); err != nil {
			t.Fatal(err)
		}
		again, err := Load(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Fingerprint() != again.Fingerprint() {
			t.Errorf("(-read +written and read again):\n%s", diffDatasets(d, again))
		}
	})
}
