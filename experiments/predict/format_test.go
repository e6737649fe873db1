package predict

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
)

// awkward names of classes.
var awkward = []string{`say "hi", <you>`, "été", "x"}

// three samples of a data set with the awkward classes; the scores of a sample are
// its features.
func three() *Samples {
	d := &dataset.Dataset{
		Features: dataset.Matrix[float32]{Rows: 4, Cols: 3, Data: []float32{
			9, 9, 9, // of a class that isn't asked for
			0, -1, -2,
			-1.5, -0.5, -9,
			0.25, 0.5, 0.5,
		}},
		Labels: []int{3, 0, 2, 1}, Classes: append(append([]string{}, awkward...), "other"),
		Split: dataset.Split{Test: []int{0, 1, 2}},
	}
	return OpenSamples(d, Test)
}

// asFeatures scores samples by their features.
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
       3  été              unsure                0.3599  été 0.3599, x 0.3599
`},
		{"CSV", probabilities, CSV, `sample,true_class,prediction,class_1,probability_1,class_2,probability_2
1,"say ""hi"", <you>","say ""hi"", <you>","say ""hi"", <you>",0.6652409,été,0.2447285
2,x,été,été,0.7309499,"say ""hi"", <you>",0.2689014
3,été,,été,0.3598675,x,0.3598675
`},
		{"JSON lines", probabilities, JSONL, `{"sample":1,"true_class":"say \"hi\", <you>","prediction":"say \"hi\", <you>","top":[{"class":"say \"hi\", <you>","probability":0.6652409},{"class":"été","probability":0.2447285}]}
{"sample":2,"true_class":"x","prediction":"été","top":[{"class":"été","probability":0.7309499},{"class":"say \"hi\", <you>","probability":0.2689014}]}
{"sample":3,"true_class":"été","prediction":null,"top":[{"class":"été","probability":0.3598675},{"class":"x","probability":0.3598675}]}
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
			want := Count{Samples: 3, Labelled: 3, Right: 2}
			if c.o.Confidence > 0 {
				want.Unsure, want.Right = 1, 1
			}
			if diff := cmp.Diff(want, count); diff != "" {
				t.Errorf("count (-want +got):\n%s", diff)
			}
			reads(t, c.f, out.String())
		})
	}
}

// reads holds that other programs can read what was written.
func reads(t *testing.T, f Format, text string) {
	t.Helper()
	switch f {
	case CSV:
		if _, err := csv.NewReader(strings.NewReader(text)).ReadAll(); err != nil {
			t.Error(err)
		}
	case JSONL:
		for line := range strings.Lines(text) {
			if !json.Valid([]byte(line)) {
				t.Errorf("expected JSON, found %s", line)
			}
		}
	}
}

func TestFormatNames(t *testing.T) {
	var f Format
	for _, name := range []Format{Table, CSV, JSONL} {
		if err := f.UnmarshalText([]byte(name)); err != nil || f != name {
			t.Errorf("%s: %s, %v", name, f, err)
		}
	}
	if err := f.UnmarshalText([]byte("xml")); err == nil || err.Error() != `expected table, csv or jsonl, found "xml"` {
		t.Error(err)
	}
}
