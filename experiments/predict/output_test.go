package predict

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
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
		Labels: []int{3, 0, 2, 1}, Classes: append(slices.Clone(awkward), "other"), Split: dataset.Split{Test: []int{0, 1, 2}},
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
			count := testkit.Must(Run(t.Context(), three(), asFeatures{}, awkward, c.o, &out))(t)
			if out.String() != c.want {
				t.Errorf("found\n%s\nexpected\n%s", &out, c.want)
			}
			want := Count{Samples: 3, Labelled: 3, Correct: 2}
			if c.o.Confidence > 0 {
				want.Abstained, want.Correct = 1, 1
			}
			if count != want {
				t.Errorf("found %+v, expected %+v", count, want)
			}
		})
	}
}

// The names of samples and classes are not trusted; of a long id the table has the end.
func TestTableOfNames(t *testing.T) {
	src := three()
	src.d.Classes[2] = "x\x1b[2J"
	src.d.IDs = []string{"a", "b", "c\x1b", strings.Repeat("é", 50) + "end"}
	var out bytes.Buffer
	testkit.Must(Run(t.Context(), src, asFeatures{}, src.d.Classes[:3], Options{Top: 3}, &out))(t)
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("a control character is printed:\n%q", &out)
	}
	testkit.WantText(t, out.String(), "  sample  id  ", "       3  …"+strings.Repeat("é", 36)+"end  été")
}

// The first two samples are alike, with almost equal scores of different classes.
func TestRunAdapted(t *testing.T) {
	src := three()
	copy(src.d.Features.Data[3:], []float32{5, 4.5, 0, 5, 5.2, 0, 0.1, 0, 3})
	m := &train.Saved{
		Pipeline:   new(model.Pipeline),
		Adaptation: &train.Adaptation{Settings: adapt.Settings{Temperature: 1, Tau: 100}},
	}
	var out bytes.Buffer
	count, p, err := RunAdapted(t.Context(), src, m, asFeatures{}, awkward, Options{Top: 1, Format: CSV}, &out)
	testkit.NoError(t, err)
	if count.Samples != 3 || p.Changed != 1 || len(p.Shares) != 3 {
		t.Errorf("%+v, %+v", count, p)
	}
	testkit.WantText(t, out.String(), "sample,true_class,prediction,class_1,probability_1\n1,")
	src.next = len(src.rows)
	if _, _, err := RunAdapted(t.Context(), src, m, asFeatures{}, awkward, Options{Top: 1}, &out); err == nil {
		t.Error("an empty batch was accepted")
	}
}

func TestOpenFeatures(t *testing.T) {
	dir, m := t.TempDir(), &train.Saved{Dims: 3}
	r := testkit.Must(OpenFeatures(t.Context(), testkit.Write(t, dir, "a.csv", "1,2,3\n4,5,6\n"), m))(t)
	testkit.NoError(t, r.Close())
	path := testkit.Write(t, dir, "narrow.csv", "1,2\n")
	_, err := OpenFeatures(t.Context(), path, m)
	testkit.WantError(t, err, path+": expected 3 features per sample")
}

// The ranked classes are the first of all classes sorted by score; their probabilities
// are a softmax over all classes.
func TestRankProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.OneOf(rapid.Float32Range(-50, 50), rapid.SampledFrom([]float32{0, 1})), 1, 9).Draw(t, "scores")
		o := Options{
			Top:         rapid.IntRange(1, 10).Draw(t, "top"),
			Temperature: rapid.SampledFrom([]float64{0, 0.5, 1, 20}).Draw(t, "temperature"),
		}
		if o.Temperature > 0 {
			o.Confidence = rapid.Float64Range(0, 1).Draw(t, "confidence")
		}
		order := make([]int, len(scores))
		var sum float64
		for z, s := range scores {
			order[z] = z
			sum += math.Exp(float64(s) / o.Temperature)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		r := ranking{classes: []int{4, 4}, values: []float64{7}} // of the sample before
		o.rank(&r, scores)
		want := order[:min(o.Top, len(scores))]
		if !slices.Equal(r.classes, want) {
			t.Fatalf("%v, expected %v", r.classes, want)
		}
		for i, z := range want {
			p := float64(scores[z])
			if o.Temperature > 0 {
				p = math.Exp(p/o.Temperature) / sum
			}
			testkit.Near(t, "value", r.values[i], p, 1e-9)
		}
		if want := o.Confidence > 0 && r.values[0] < o.Confidence; r.abstain != want {
			t.Errorf("abstain is %v at %g, expected %v", r.abstain, r.values[0], want)
		}
	})
}
