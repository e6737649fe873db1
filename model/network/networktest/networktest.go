// Package networktest has the reference of networks: weights by a formula, so that tests need no
// file of weights, and PyTorch's features of crops of images with the same weights.
package networktest

import (
	"image"
	_ "image/png" // crops
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/network"
)

// Formula makes n numbers in [-1, 1) from a name: FNV-1a of the name seeds SplitMix64.
func Formula(name string, n int) []float32 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	x := make([]float32, n)
	for i := range x {
		z := h + uint64(i+1)*0x9E3779B97F4A7C15
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		z ^= z >> 31
		x[i] = float32(float64(z>>40)/(1<<23) - 1)
	}
	return x
}

// tensor makes a tensor whose numbers are a function of the formula's.
func tensor(name string, value func(u float64) float64, shape ...int) safetensors.Tensor {
	n := 1
	for _, size := range shape {
		n *= size
	}
	t := safetensors.Tensor{Name: name, Shape: shape, F32: Formula(name, n)}
	for i, u := range t.F32 { // exact: a number of the formula has 24 bits
		t.F32[i] = float32(value(float64(u)))
	}
	return t
}

func write(path string, tensors []safetensors.Tensor) error {
	return fileio.Write(path, func(w io.Writer) error { return safetensors.Write(w, tensors, nil) })
}

// CheckFeatures compares the features of n crops of a folder with PyTorch's in an .npy file, to a
// part of the largest feature of each image.
func CheckFeatures(t *testing.T, w network.Network, n int, crops, reference string, tolerance float64) {
	t.Helper()
	const size = 224
	want := testkit.Must(features.ReadAll(t.Context(), reference))(t)
	if w.Dims() != want.Cols {
		t.Fatalf("%d features, expected %d", w.Dims(), want.Cols)
	}
	paths := testkit.Must(filepath.Glob(filepath.Join(crops, "*.png")))(t)
	n = min(n, len(paths))
	g, p := testkit.Must(w.Graph(n, size))(t), w.Preprocessing(dataset.Crop, size)
	for i, path := range paths[:n] {
		f := testkit.Must(os.Open(path))(t)
		m, _, err := image.Decode(f)
		testkit.NoError(t, err)
		testkit.NoError(t, f.Close())
		for pixel := range size * size {
			r, green, b, _ := m.At(pixel%size, pixel/size).RGBA()
			for c, v := range []uint32{r, green, b} {
				g.Images.Row(i)[3*pixel+c] = (float32(v>>8)/255 - float32(p.Mean[c])) / float32(p.Std[c])
			}
		}
	}
	got := testkit.Must(g.Features())(t)
	for i, path := range paths[:n] {
		largest := math.Max(float64(slices.Max(want.Row(i))), -float64(slices.Min(want.Row(i))))
		for j, v := range want.Row(i) {
			if d := math.Abs(float64(got.Row(i)[j]) - float64(v)); !(d <= tolerance*largest) {
				t.Fatalf("%s: feature %d differs by %g, of at most %g", path, j, d, largest)
			}
		}
	}
}
