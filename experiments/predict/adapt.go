package predict

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
)

// Adapted describes the batch that predictions were adapted to.
type Adapted struct {
	Changed int       // number of predictions
	Samples int       // of the batch
	Classes []string  // to choose from
	Shares  []float64 // estimated share of each class
}

// garbage is the GC percentage while a batch is in memory: at the default its preprocessing
// would leave garbage of its size. Features have no pointers, so collecting costs little.
const garbage = 10

// RunAdapted is Run with predictions adapted to all samples of src together, by the settings
// of m. It reads all of src before it writes, and keeps the features and two numbers per
// sample and class in memory.
func RunAdapted(ctx context.Context, src Source, m *train.Saved, scorer model.Scorer, classes []string, o Options, w io.Writer) (Count, *Adapted, error) {
	o.Temperature = 1 // of log P
	if err := o.Check(); err != nil {
		return Count{}, nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	blocks, err := readAll(ctx, src, m, scorer, len(classes))
	if err != nil {
		return Count{}, nil, err
	}
	adapt.Normalize(blocks)
	fitted, err := adapt.Fit(blocks, m.Adaptation.Settings)
	if err != nil {
		return Count{}, nil, err
	}
	a := &Adapted{Changed: adaptation.Changed(blocks, fitted.P), Samples: fitted.P.Rows, Classes: classes, Shares: fitted.Shares}
	out := newOutput(w, classes, o, src)
	if err := cmp.Or(out.header(), out.flush()); err != nil {
		return out.count, nil, err
	}
	for part := range slices.Chunk(fitted.P.AllRows(), maxSamples) {
		b := &block{first: part[0], n: len(part), ranked: make([]ranking, len(part))}
		parallel.For(len(part), 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				o.rank(&b.ranked[i], logarithms(fitted.P.Row(part[i])))
			}
		})
		if err := cmp.Or(ctx.Err(), out.writeBlock(b)); err != nil {
			return out.count, nil, err
		}
	}
	return out.count, a, nil
}

func logarithms(p []float32) []float32 {
	l := make([]float32, len(p))
	for z, v := range p {
		l[z] = float32(math.Log(float64(v)))
	}
	return l
}

// readAll reads and scores all samples, and preprocesses their features.
func readAll(ctx context.Context, src Source, m *train.Saved, scorer model.Scorer, classes int) ([]adapt.Block, error) {
	var blocks []adapt.Block
	for {
		x := dataset.NewMatrix[float32](maxSamples, src.Cols())
		n, err := src.Read(x)
		if errors.Is(err, io.EOF) && n == 0 {
			break
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		b := adapt.Block{X: x.Slice(0, n), Scores: dataset.NewMatrix[float32](n, classes)}
		if n < maxSamples {
			b.X.Data = slices.Clone(b.X.Data) // without the unused rows
		}
		if err := scorer.Score(b.X, b.Scores); err != nil {
			return nil, err
		}
		if err := m.AdaptedFeatures().ApplyInPlace(b.X); err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	if blocks == nil {
		return nil, &invalid.Error{Where: "--adapt", Want: "at least one sample", Got: "none"}
	}
	return blocks, nil
}

// WriteText writes the estimated share of each class, the largest first, and the classes of
// which no sample is expected.
func (a *Adapted) WriteText(w io.Writer) error {
	order := make([]int, len(a.Classes))
	for z := range order {
		order[z] = z
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(a.Shares[y], a.Shares[x]) })
	t := format.NewTable("class", "estimated share", "samples")
	t.Right(2, 3)
	var absent []string
	for _, z := range order {
		// The share of a class without samples is that of the prior, one sample.
		samples := a.Shares[z]*float64(a.Samples+len(order)) - 1
		if samples < 0.5 {
			absent = append(absent, format.Printable(a.Classes[z]))
			continue
		}
		t.Row(a.Classes[z], format.Percent(samples/float64(a.Samples)), fmt.Sprintf("%.0f", samples))
	}
	warning := ""
	if 2*len(absent) > len(order) {
		warning = "warning: more than half of the candidate classes seem to be absent, and adaptation can then lower accuracy; restrict the candidates with --classes\n"
	}
	_, err := fmt.Fprintf(w, "adapted to %s: %s changed\n%scandidate classes that seem to be absent: %s\n%s", format.Count(a.Samples, "sample"),
		format.Count(a.Changed, "prediction"), t, cmp.Or(strings.Join(absent, ", "), "none"), warning)
	return err
}
