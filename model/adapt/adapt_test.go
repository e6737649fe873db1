package adapt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/testkit"
)

// random returns normalised samples in clusters, with noisy scores, in two blocks.
func random(r *rand.Rand, samples, dims, classes int) []Block {
	centres := dataset.NewMatrix[float32](classes, dims)
	for i := range centres.Data {
		centres.Data[i] = float32(r.NormFloat64())
	}
	x, scores := dataset.NewMatrix[float32](samples, dims), dataset.NewMatrix[float32](samples, classes)
	for i := range samples {
		z := r.IntN(classes)
		for d := range dims {
			x.Row(i)[d] = centres.Row(z)[d] + float32(r.NormFloat64())
		}
		for k := range classes {
			scores.Row(i)[k] = float32(r.NormFloat64())
		}
		scores.Row(i)[z]++
	}
	half := samples / 2
	blocks := []Block{{x.Slice(0, half), scores.Slice(0, half)}, {x.Slice(half, samples), scores.Slice(half, samples)}}
	Normalise(blocks)
	return blocks
}

func fitOf(t testkit.TB, blocks []Block, s Settings) *Mixture {
	return testkit.Must(expectationMaximisation(blocks, s))(t)
}

func TestEachRoundRaisesTheObjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		blocks := random(rng, rapid.IntRange(2, 60).Draw(t, "samples"), rapid.IntRange(1, 6).Draw(t, "dims"), rapid.IntRange(1, 6).Draw(t, "classes"))
		r := fitOf(t, blocks, Settings{rapid.Float64Range(0.2, 5).Draw(t, "T"), rapid.Float64Range(0.1, 200).Draw(t, "tau")})
		for i := 1; i < len(r.Objective); i++ {
			before, after := r.Objective[i-1], r.Objective[i]
			if after < before-1e-4*(1+math.Abs(before)) { // features are float32
				t.Fatalf("round %d: %g after %g", i, after, before)
			}
		}
		var sum float64
		for _, share := range r.Shares {
			sum += share
		}
		testkit.Near(t, "sum of the shares", sum, 1, 1e-6)
	})
}

// Without features, for one sample and for one class, P is that of the classifier.
func TestOff(t *testing.T) {
	for _, c := range []struct {
		name             string
		samples, classes int
		tau              float64
	}{{"tau 0", 20, 4, 0}, {"one sample", 1, 4, 50}, {"one class", 20, 1, 50}} {
		blocks := random(rand.New(rand.NewPCG(2, 0)), c.samples, 3, c.classes)
		got := fitOf(t, blocks, Settings{1, c.tau})
		want, mass := []float64{}, make([]float64, c.classes)
		for _, b := range blocks {
			for i := range b.Scores.Rows {
				row := dataset.Convert[float64](b.Scores.Slice(i, i+1)).Data
				for z, l := range row {
					p := math.Exp(l - matrix.LogSumExp(row))
					want = append(want, p)
					mass[z] += p
				}
			}
		}
		testkit.NearAll(t, c.name, got.P.Data, want, 1e-6)
		for z, share := range got.Shares {
			testkit.Near(t, c.name+": share", share, (mass[z]+1)/float64(c.samples+c.classes), 1e-6)
		}
	}
}

// One round, worked out by hand: two samples at +1 and -1, scores for equal odds 3 to 1 and 1 to 1.
func TestFirstRound(t *testing.T) {
	b := Block{
		dataset.Matrix[float32]{Rows: 2, Cols: 1, Data: []float32{1, -1}},
		dataset.Matrix[float32]{Rows: 2, Cols: 2, Data: []float32{float32(math.Log(3)), 0, 0, 0}},
	}
	f := newFit([]Block{b}, 2, Settings{1, 4})
	f.expect()
	f.maximise()
	// P is (3/4, 1/4), (1/2, 1/2): masses 5/4, 3/4, sums 1/4, -1/4.
	for z, want := range []float64{0.25 / (1.25 + Shrinkage), -0.25 / (0.75 + Shrinkage)} {
		testkit.Near(t, "mean", float64(f.mean.Row(z)[0]), want, 1e-7)
	}
	testkit.Near(t, "share", f.Shares[0], (1.25+1)/4, 1e-9)
}

// Samples without a direction keep the classifier's odds, times those of the shares.
func TestZeroVectors(t *testing.T) {
	blocks := random(rand.New(rand.NewPCG(3, 0)), 12, 3, 2)
	clear(blocks[0].X.Row(0))
	r := fitOf(t, blocks, Settings{1, 20})
	if r.P.Row(0)[0]+r.P.Row(0)[1] < 0.999 {
		t.Errorf("%v", r.P.Row(0))
	}
	same := []Block{{dataset.Matrix[float32]{Rows: 3, Cols: 2, Data: []float32{0.1, 0.3, 0.1, 0.3, 0.1, 0.3}}, dataset.NewMatrix[float32](3, 2)}}
	Normalise(same)
	testkit.NearAll(t, "equal samples", same[0].X.Data, make([]float64, 6), 0)
}

// Classes without samples are found; if they are most of the classes, P is that of the scores. Where all
// have samples, none is.
func TestDeclines(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	for present, declined := range map[int]bool{2: true, 7: false, 10: false} {
		blocks := random(r, 400, 8, 10)
		for _, b := range blocks {
			for i := range b.Scores.Rows {
				b.Scores.Row(i)[i%present] += 12
			}
		}
		s := Settings{1, 10}
		got := testkit.Must(Fit(blocks, s))(t)
		want := fitOf(t, blocks, s)
		testkit.Equal(t, fmt.Sprintf("%d of 10 classes: declined", present), got.Declined, declined)
		if declined {
			want = fitOf(t, blocks, Settings{1, 0})
		}
		testkit.Equal(t, fmt.Sprintf("%d of 10 classes", present), got.P.Data, want.P.Data)
	}
}

func TestRefusesBadInput(t *testing.T) {
	good := Settings{1, 10}
	for _, c := range []struct {
		want   string
		s      Settings
		change func(b []Block)
	}{
		{"scores: expected finite numbers, found NaN for sample 6", good, func(b []Block) { b[1].Scores.Row(1)[0] = float32(math.NaN()) }},
		{"features: expected finite", good, func(b []Block) { b[0].X.Data[0] = float32(math.Inf(1)) }},
		{"temperature: expected", Settings{0, 10}, func([]Block) {}},
		{"tau: expected", Settings{1, -1}, func([]Block) {}},
	} {
		blocks := random(rand.New(rand.NewPCG(4, 0)), 10, 3, 3)
		c.change(blocks)
		testkit.Fails(Fit(blocks, c.s))(t, c.want)
	}
	testkit.Fails(Fit(nil, good))(t, "batch: expected at least one sample")
}
