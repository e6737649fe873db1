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

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
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
			return i, errors.New("a bad sample")
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// modulo scores class -i mod Z of sample i highest.
type modulo struct{ fail float32 }

func (m modulo) Score(x, scores dataset.Matrix[float32]) error {
	for i := range x.Rows {
		if m.fail > 0 && x.Row(i)[0] >= m.fail {
			return errors.New("a bad block")
		}
		for z := range scores.Cols {
			scores.Row(i)[z] = -float32((int(x.Row(i)[0]) + z) % scores.Cols)
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
	count, err := Run(context.Background(), src, modulo{}, abc, Options{Top: 1, Format: CSV}, &out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Count{Samples: src.n}, count); diff != "" {
		t.Errorf("count (-want +got):\n%s", diff)
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
		p := newPipeline(t.Context(), c.dims, c.classes, Options{})
		if b := <-p.free; b.x.Rows != c.samples || b.scores.Rows != c.samples {
			t.Errorf("%d features and %d classes: blocks of %d samples, expected %d", c.dims, c.classes, b.x.Rows, c.samples)
		}
		p.cancel(nil)
	}
}

// refusing is a disk that is full after some bytes.
type refusing struct{ left int }

func (r *refusing) Write(b []byte) (int, error) {
	if r.left -= len(b); r.left < 0 {
		return 0, errors.New("no space")
	}
	return len(b), nil
}

// The error of whichever stage fails is returned, and all stages end.
func TestRunReturnsTheFirstError(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	background := context.Background()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		src    *counting
		scorer modulo
		w      io.Writer
		want   string
	}{
		{"a sample", background, &counting{n: 1e6, fail: 5000}, modulo{}, io.Discard, "a bad sample"},
		{"scores", background, &counting{n: 1e6}, modulo{fail: 5000}, io.Discard, "a bad block"},
		{"the disk", background, &counting{n: 1e6}, modulo{}, &refusing{left: 50000}, "no space"},
		{"the first line", background, &counting{n: 10}, modulo{}, &refusing{}, "no space"},
		{"Ctrl-C", ended, &counting{n: 1e6}, modulo{}, io.Discard, "context canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Run(c.ctx, c.src, c.scorer, abc, Options{Top: 2, Format: CSV}, c.w)
			if err == nil || err.Error() != c.want {
				t.Errorf("found the error %v, expected %s", err, c.want)
			}
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
	count, err := Run(context.Background(), &counting{}, modulo{}, abc, Options{Top: 9, Temperature: 1, Format: Table}, &out)
	if err != nil || count != (Count{}) {
		t.Fatal(count, err)
	}
	if want := "  sample  prediction  probability  next\n"; out.String() != want {
		t.Errorf("found %q, expected %q", out.String(), want)
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
	ctx, cancel := context.WithCancel(context.Background())
	src := idle{make(chan struct{})}
	go func() {
		<-src.reading
		cancel()
	}()
	if _, err := Run(ctx, src, modulo{}, abc, Options{Top: 1}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
}

// notANumber scores every sample as NaN.
type notANumber struct{}

func (notANumber) Score(_, scores dataset.Matrix[float32]) error {
	for i := range scores.Data {
		scores.Data[i] = float32(math.NaN())
	}
	return nil
}

func TestRunRefuses(t *testing.T) {
	for _, c := range []struct {
		o      Options
		scorer model.Scorer
		want   string
	}{
		{Options{}, modulo{}, "--top: expected at least 1, found 0"},
		{Options{Top: 1, Temperature: -1}, modulo{}, "--temperature: expected a finite number above 0, found -1"},
		{Options{Top: 1, Temperature: 1, Confidence: 80}, modulo{}, "--min-confidence: expected a probability from 0 to 1, found 80"},
		{Options{Top: 1, Confidence: 0.5}, modulo{}, "--temperature"},
		{Options{Top: 1}, notANumber{}, "sample 0: expected finite scores, found NaN"},
	} {
		_, err := Run(context.Background(), &counting{n: 3}, c.scorer, abc, c.o, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: found %v, expected %s", c.o, err, c.want)
		}
	}
}
