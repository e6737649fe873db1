package descriptions

import (
	"testing"

	"github.com/lago-train/lago-train/dataset"
)

// Every file is an error or classes with probabilities.
func fuzz(f *testing.F, read func(*file, []byte), seeds ...string) {
	v := newVocabulary([]dataset.Attribute{{Name: "wing color::olive"}, {Name: "wing color::grey"}, {Name: "size::large"}}, nil)
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		from := newFile("a file", v)
		read(from, []byte(text))
		classes, u, err := from.finish()
		if err != nil {
			return
		}
		if len(classes) == 0 || u.Rows != len(classes) || u.Cols != 3 || len(u.Data) != u.Rows*u.Cols {
			t.Fatalf("%d classes, descriptions of %d x %d", len(classes), u.Rows, u.Cols)
		}
		for z := range classes {
			described := 0
			for m, p := range u.Row(z) {
				if p < 0 || p > 1 {
					t.Fatalf("class %d, attribute %d is %g", z, m, p)
				}
				if p >= 0 {
					described++
				}
			}
			if classes[z] == "" || described == 0 {
				t.Fatalf("class %d, %q, has %d attributes", z, classes[z], described)
			}
		}
	})
}

func FuzzCSV(f *testing.F) {
	fuzz(f, readCSV, "class,olive,large\nOwl,often,0.5\n", "class,attribute,value\nOwl,olive,1\nOwl,large,\n", "class,olive,\"\n", "\ufeffclass,wing color: olive\n\n\"a\nb\",80\n")
}

func FuzzJSON(f *testing.F) {
	fuzz(f, readJSON, `{"Owl": {"olive": "often", "large": 0.5}}`, `{"Owl": {"olive": null, "large": {"a": [1]}}}`, `{"Owl": 3}`, `{"Owl`)
}
