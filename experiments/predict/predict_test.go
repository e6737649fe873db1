package predict

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
func asFeatures(x, scores dataset.Matrix[float32]) error {
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
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Format = c.f
			var out bytes.Buffer
			count := testkit.Must(Run(t.Context(), three(), asFeatures, awkward, c.o, &out))(t)
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

// The names of samples and classes are not trusted; of a long id a table has the end.
func TestTable(t *testing.T) {
	src := three()
	src.d.Classes[2] = "x\x1b[2J"
	src.d.IDs = []string{"a", "b", "c\x1b", strings.Repeat("é", 50) + "end"}
	var out bytes.Buffer
	testkit.Must(Run(t.Context(), src, asFeatures, src.d.Classes[:3], Options{Top: 3}, &out))(t)
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("a control character is printed:\n%q", &out)
	}
	testkit.WantText(t, out.String(), "  sample  id  ", "     score  next\n", "       3  …"+strings.Repeat("é", 36)+"end  été", "   -0.5000  say ")
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
	count, p, err := RunAdapted(t.Context(), src, m, asFeatures, awkward, false, Options{Top: 1, Format: CSV}, &out)
	testkit.NoError(t, err)
	if count.Samples != 3 || p.Changed != 1 || len(p.Shares) != 3 {
		t.Errorf("%+v, %+v", count, p)
	}
	testkit.WantText(t, out.String(), "sample,true_class,prediction,class_1,probability_1\n1,")
	// A smaller batch than the smallest is predicted as by Run, unless that is forced.
	m.Adaptation.Smallest = 4
	var alone, small, forced bytes.Buffer
	once := Options{Top: 3, Temperature: 2, Format: CSV}
	src.next = 0
	testkit.Must(Run(t.Context(), src, asFeatures, awkward, once, &alone))(t)
	for force, w := range map[bool]*bytes.Buffer{false: &small, true: &forced} {
		src.next = 0
		_, p, err := RunAdapted(t.Context(), src, m, asFeatures, awkward, force, once, w)
		testkit.NoError(t, err)
		if (p.Result != nil) != force || (w.String() == alone.String()) == force {
			t.Errorf("forced %v: found\n%s, not adapted\n%s", force, w, &alone)
		}
	}
	src.next = len(src.rows)
	if _, _, err := RunAdapted(t.Context(), src, m, asFeatures, awkward, false, Options{Top: 1}, &out); err == nil {
		t.Error("an empty batch was accepted")
	}
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

// counting supplies n samples whose only feature is their index. It records the blocks
// that it is asked to fill.
type counting struct {
	n, next int
	asked   map[*float32]bool
	fail    int // the sample that cannot be read; 0 for none
}

func (c *counting) Cols() int { return 1 }

func (c *counting) Read(block dataset.Matrix[float32]) (int, error) {
	if c.asked == nil {
		c.asked = map[*float32]bool{}
	}
	c.asked[&block.Data[0]] = true
	n := min(block.Rows, c.n-c.next)
	for i := range n {
		block.Row(i)[0] = float32(c.next)
		if c.next++; c.fail > 0 && c.next > c.fail {
			return i, fmt.Errorf("a bad sample: %w", io.EOF)
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// modulo scores class -i mod Z of sample i highest.
type modulo struct{ fail, nan float32 } // the samples from which on it fails or scores NaN; 0 for none

func (m modulo) Score(x, scores dataset.Matrix[float32]) error {
	for i := range x.Rows {
		if m.fail > 0 && x.Row(i)[0] >= m.fail {
			return errors.New("a bad block")
		}
		for z := range scores.Cols {
			scores.Row(i)[z] = -float32((int(x.Row(i)[0]) + z) % scores.Cols)
		}
		if m.nan > 0 && x.Row(i)[0] >= m.nan {
			scores.Row(i)[1] = float32(math.NaN())
		}
	}
	return nil
}

var abc = []string{"a", "b", "c"}

// Many samples are predicted in their order, with the memory of a few blocks.
func TestRunStreams(t *testing.T) {
	src := &counting{n: 100*maxSamples + 17}
	var out bytes.Buffer
	count := testkit.Must(Run(t.Context(), src, modulo{}.Score, abc, Options{Top: 1, Format: CSV}, &out))(t)
	if want := (Count{Samples: src.n}); count != want {
		t.Errorf("found %+v, expected %+v", count, want)
	}
	if len(src.asked) > blocks {
		t.Errorf("%d blocks were in use, expected at most %d", len(src.asked), blocks)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")[1:]
	if len(lines) != src.n {
		t.Fatalf("%d lines, expected one for each of %d samples", len(lines), src.n)
	}
	for i, line := range lines {
		class := abc[(3-i%3)%3]
		if want := fmt.Sprintf("%d,%s,%s,0", i, class, class); line != want && line != want[:len(want)-1]+"-0" {
			t.Fatalf("line %d is %s, expected %s", i, line, want)
		}
	}
}

// The memory of the blocks is bounded for any number of features and classes.
func TestBlocksAreBounded(t *testing.T) {
	for _, c := range []struct{ dims, classes, samples int }{{2048, 50, 512}, {1, 1, 1024}, {1 << 20, 3, 64}, {300, 1 << 16, 16}, {300, 1 << 21, 1}} {
		if b := <-newBlocks(c.dims, c.classes); b.x.Rows != c.samples || b.scores.Rows != c.samples {
			t.Errorf("%d features and %d classes: blocks of %d samples, expected %d", c.dims, c.classes, b.x.Rows, c.samples)
		}
	}
}

// full is a disk that is full after some bytes.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("no space")
	}
	return len(b), nil
}

// The error of whichever stage fails is returned, and all stages end.
func TestRunReturnsTheFirstError(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		src    *counting
		scorer modulo
		w      io.Writer
		want   string
	}{
		{"a sample", t.Context(), &counting{n: 1e6, fail: 5000}, modulo{}, io.Discard, "a bad sample"},
		{"scores", t.Context(), &counting{n: 1e6}, modulo{fail: 5000}, io.Discard, "a bad block"},
		{"NaN", t.Context(), &counting{n: 1e6}, modulo{nan: 5000}, io.Discard, "sample 5000: expected finite scores, found NaN"},
		{"the disk", t.Context(), &counting{n: 1e6}, modulo{}, &full{left: 50000}, "no space"},
		{"the first line", t.Context(), &counting{n: 10}, modulo{}, &full{}, "no space"},
		{"Ctrl-C", ended, &counting{n: 1e6}, modulo{}, io.Discard, "context canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Run(c.ctx, c.src, c.scorer.Score, abc, Options{Top: 2, Format: CSV}, c.w)
			testkit.WantError(t, err, c.want)
			if c.src.next == c.src.n && c.src.n > 10 {
				t.Error("all samples were read")
			}
		})
	}
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"top: expected at least 1, found 0":                              {},
		"temperature: expected a finite number above 0, found -1":        {Top: 1, Temperature: -1},
		"min-confidence: expected a probability from 0 to 1, found 80":   {Top: 1, Temperature: 1, Confidence: 80},
		"min-confidence: expected a model of LAGO, whose scores are pro": {Top: 1, Confidence: 0.5},
	} {
		_, err := Run(t.Context(), &counting{n: 3}, modulo{}.Score, abc, o, io.Discard)
		testkit.WantError(t, err, want)
	}
}
