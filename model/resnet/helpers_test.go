package resnet

import (
	"math"
	"os"
	"testing"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/safetensors"
)

func TestMain(m *testing.M) {
	if _, err := blas.Use(""); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// formula makes n numbers in [-1, 1) from a name, so that no weights need to be stored:
// FNV-1a of the name seeds SplitMix64.
func formula(name string, n int) []float64 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	x := make([]float64, n)
	for i := range x {
		z := h + uint64(i+1)*0x9E3779B97F4A7C15
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		z ^= z >> 31
		x[i] = float64(z>>40)/(1<<23) - 1
	}
	return x
}

// formulaFile returns the tensors of an architecture with the weights of the reference.
func formulaFile(tb testing.TB, name string) *safetensors.File {
	tb.Helper()
	for _, a := range architectures {
		if a.name == name {
			f := &safetensors.File{}
			for _, b := range a.residual(false) {
				f.Tensors = append(f.Tensors, formulaBlock(b)...)
			}
			f.Tensors = append(f.Tensors, formulaLayer(stem)...)
			return f
		}
	}
	tb.Fatalf("no architecture %s", name)
	return nil
}

func formulaBlock(b block) []safetensors.Tensor {
	var list []safetensors.Tensor
	for _, l := range b.layers {
		list = append(list, formulaLayer(l)...)
	}
	if b.shortcut != nil {
		list = append(list, formulaLayer(*b.shortcut)...)
	}
	return list
}

func formulaLayer(l layer) []safetensors.Tensor {
	scale := 1.0
	if l.shortcut {
		scale = 4
	}
	make32 := func(name string, to func(u float64) float64, shape ...int) safetensors.Tensor {
		n := 1
		for _, s := range shape {
			n *= s
		}
		t := safetensors.Tensor{Name: name, Shape: shape, F32: make([]float32, n)}
		for i, u := range formula(name, n) {
			t.F32[i] = float32(to(u))
		}
		return t
	}
	bound := math.Sqrt(6 / float64(l.in*l.size*l.size))
	return []safetensors.Tensor{
		make32(l.conv+".weight", func(u float64) float64 { return u * bound }, l.out, l.in, l.size, l.size),
		make32(l.norm+".weight", func(u float64) float64 { return (1 + u/4) / scale }, l.out),
		make32(l.norm+".bias", func(u float64) float64 { return u / 10 }, l.out),
		make32(l.norm+".running_mean", func(u float64) float64 { return u / 10 }, l.out),
		make32(l.norm+".running_var", func(u float64) float64 { return 1 + u/2 }, l.out),
	}
}
