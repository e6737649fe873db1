package predict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// counting supplies n samples whose only feature is their index. It records the blocks
// that it is asked to fill. Run may return while a Read goes on, hence the lock.
type counting struct {
	mu      sync.Mutex
	n, next int
	asked   map[*float32]bool
	fail    int // the sample that cannot be read; 0 for none
}

func (c *counting) Cols() int { return 1 }

func (c *counting) Read(block dataset.Matrix[float32]) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
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

var _ model.Scorer = modulo{}

var abc = []string{"a", "b", "c"}

// Many samples are predicted in their order, with the memory of a few blocks.
func TestRunStreams(t *testing.T) {
	src := &counting{n: 100*maxSamples + 17}
	var out bytes.Buffer
	count := testkit.Must(Run(t.Context(), src, modulo{}, abc, Options{Top: 1, Format: CSV}, &out))(t)
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
			_, err := Run(c.ctx, c.src, c.scorer, abc, Options{Top: 2, Format: CSV}, c.w)
			testkit.WantError(t, err, c.want)
			c.src.mu.Lock()
			defer c.src.mu.Unlock()
			if c.src.next == c.src.n && c.src.n > 10 {
				t.Error("all samples were read")
			}
		})
	}
}

func TestRunWithoutSamples(t *testing.T) {
	var out bytes.Buffer
	count, err := Run(t.Context(), &counting{}, modulo{}, abc, Options{Top: 9, Temperature: 1, Format: Table}, &out)
	if want := "  sample  prediction  probability  next\n"; err != nil || count != (Count{}) || out.String() != want {
		t.Errorf("%v, %v: found %q, expected %q", count, err, &out, want)
	}
}

// idle is a source that waits for ever, as standard input may.
type idle struct{ reading chan struct{} }

func (idle) Cols() int { return 1 }

func (s idle) Read(dataset.Matrix[float32]) (int, error) {
	close(s.reading)
	select {}
}

func TestRunEndsWhileItsSourceIsIdle(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	src := idle{make(chan struct{})}
	go func() {
		<-src.reading
		cancel()
	}()
	if _, err := Run(ctx, src, modulo{}, abc, Options{Top: 1}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"top: expected at least 1, found 0":                              {},
		"temperature: expected a finite number above 0, found -1":        {Top: 1, Temperature: -1},
		"min-confidence: expected a probability from 0 to 1, found 80":   {Top: 1, Temperature: 1, Confidence: 80},
		"min-confidence: expected a model of LAGO, whose scores are pro": {Top: 1, Confidence: 0.5},
	} {
		_, err := Run(t.Context(), &counting{n: 3}, modulo{}, abc, o, io.Discard)
		testkit.WantError(t, err, want)
	}
}
