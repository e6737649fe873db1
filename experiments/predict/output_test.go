package predict

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/train"
)

// awkward are class names that need quoting.
var awkward = []string{`say "hi", <you>`, "été", "x"}

// three returns three samples of the awkward classes, whose features are their scores.
func three() *Samples {
	d := &dataset.Dataset{
		Features: dataset.Matrix[float32]{Rows: 4, Cols: 3, Data: []float32{
			9, 9, 9, // of a class that is not selected
			0, -1, -2,
			-1.5, -0.5, -9,
			0.25, 0.5, 0.5,
		}},
		Labels: []int{3, 0, 2, 1}, Classes: append(append([]string{}, awkward...), "other"),
		Split: dataset.Split{Test: []int{0, 1, 2}},
	}
	return SamplesOf(d, candidates.Test)
}

// asFeatures returns features as scores.
type asFeatures struct{}

func (asFeatures) Score(x, scores dataset.Matrix[float32]) error {
	copy(scores.Data, x.Data)
	return nil
}

func TestFormats(t *testing.T) {
	probabilities := Options{Top: 2, Temperature: 1, Confidence: 0.6}
	// softmax of (0, -1, -2) is (0.6652, 0.2447, 0.0900); of (-1.5, -0.5, -9)
	// (0.2689, 0.7309, 0.0002); of (0.25, 0.5, 0.5) (0.2803, 0.3599, 0.3599).
	for _, c := range []struct {
		name string
		o    Options
		f    Format
		want string
	}{
		{"a table", probabilities, Table, `  sample  true class       prediction       probability  next
       1  say "hi", <you>  say "hi", <you>       0.6652  été 0.2447
       2  x                été                   0.7309  say "hi", <you> 0.2689
       3  été              (abstain)             0.3599  été 0.3599, x 0.3599
`},
		{"CSV", probabilities, CSV, `sample,true_class,prediction,class_1,probability_1,class_2,probability_2
1,"say ""hi"", <you>","say ""hi"", <you>","say ""hi"", <you>",0.6652409,été,0.2447285
2,x,été,été,0.7309499,"say ""hi"", <you>",0.2689014
3,été,,été,0.3598675,x,0.3598675
`},
		{"JSON lines", probabilities, JSONL, `{"sample":1,"true_class":"say \"hi\", <you>","prediction":"say \"hi\", <you>","top":[{"class":"say \"hi\", <you>","probability":0.66524094},{"class":"été","probability":0.24472848}]}
{"sample":2,"true_class":"x","prediction":"été","top":[{"class":"été","probability":0.7309499},{"class":"say \"hi\", <you>","probability":0.26890144}]}
{"sample":3,"true_class":"été","prediction":null,"top":[{"class":"été","probability":0.35986745},{"class":"x","probability":0.35986745}]}
`},
		{"scores", Options{Top: 1}, CSV, `sample,true_class,prediction,class_1,score_1
1,"say ""hi"", <you>","say ""hi"", <you>","say ""hi"", <you>",0
2,x,été,été,-0.5
3,été,été,été,0.5
`},
		{"a table of scores", Options{Top: 1}, Table, `  sample  true class       prediction             score
       1  say "hi", <you>  say "hi", <you>       0.0000
       2  x                été                  -0.5000
       3  été              été                   0.5000
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Format = c.f
			var out bytes.Buffer
			count, err := Run(context.Background(), three(), asFeatures{}, awkward, c.o, &out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			want := Count{Samples: 3, Labelled: 3, Correct: 2}
			if c.o.Confidence > 0 {
				want.Abstained, want.Correct = 1, 1
			}
			if diff := cmp.Diff(want, count); diff != "" {
				t.Errorf("count (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTableHidesControlCharacters(t *testing.T) {
	src := three()
	src.d.Classes[2] = "x\x1b[2J"
	var out bytes.Buffer
	if _, err := Run(context.Background(), src, asFeatures{}, src.d.Classes[:3], Options{Top: 3}, &out); err != nil || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%v\n%q", err, &out)
	}
}

func TestOpenFeatures(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	m := &train.Saved{Dims: 3}
	r, err := OpenFeatures(t.Context(), write("a.csv", "1,2,3\n4,5,6\n"), m)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	path := write("narrow.csv", "1,2\n")
	if _, err := OpenFeatures(t.Context(), path, m); err == nil || !strings.HasPrefix(err.Error(), path+": expected 3 features per sample") {
		t.Errorf("found %v", err)
	}
}
