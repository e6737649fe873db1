package testkit_test

import (
	"errors"
	"math"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

// recorder counts reports. Unlike a test, it goes on after Fatalf.
type recorder int

func (*recorder) Helper()                 {}
func (r *recorder) Errorf(string, ...any) { *r++ }
func (r *recorder) Fatalf(string, ...any) { *r++ }

func TestHelpersReportWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	path := testkit.Write(t, dir, "below/file", "text")
	for i, c := range []struct {
		right, wrong func(t testkit.TB)
	}{
		{func(t testkit.TB) { testkit.Near(t, "", 100.5, 100, 0.01) }, func(t testkit.TB) { testkit.Near(t, "", 102, 100, 0.01) }},
		{func(t testkit.TB) { testkit.Near(t, "", math.NaN(), math.NaN(), 0) }, func(t testkit.TB) { testkit.Near(t, "", math.NaN(), 0, 1) }},
		{
			func(t testkit.TB) { testkit.NearAll(t, "", []float32{1}, []float64{1.05}, 0.1) },
			func(t testkit.TB) { testkit.NearAll(t, "", []float32{1}, []float64{1.5}, 0.1) },
		},
		{func(t testkit.TB) { testkit.Equal(t, "", "a", "a") }, func(t testkit.TB) { testkit.Equal(t, "", []int{1}, nil) }},
		{func(t testkit.TB) { testkit.NoError(t, nil) }, func(t testkit.TB) { testkit.Must(0, errors.New("a"))(t) }},
		{func(t testkit.TB) { testkit.WantError(t, errors.New("abc"), "a", "c") }, func(t testkit.TB) { testkit.WantError(t, nil) }},
		{func(t testkit.TB) { testkit.Fails(0, errors.New("abc"))(t, "b") }, func(t testkit.TB) { testkit.Fails(0, nil)(t) }},
		{func(t testkit.TB) { testkit.WantError(t, errors.New("abc")) }, func(t testkit.TB) { testkit.WantError(t, errors.New("abc"), "d") }},
		{func(t testkit.TB) { testkit.WantText(t, testkit.Read(t, path), "ex") }, func(t testkit.TB) { testkit.WantText(t, testkit.Read(t, path), "ab") }},
		{func(t testkit.TB) { testkit.WantNoText(t, "text", "ab") }, func(t testkit.TB) { testkit.WantNoText(t, "text", "ab", "ex") }},
	} {
		var right, wrong recorder
		c.right(&right)
		c.wrong(&wrong)
		if right != 0 || wrong != 1 {
			t.Errorf("case %d: %d and %d reports, expected 0 and 1", i, right, wrong)
		}
	}
}
