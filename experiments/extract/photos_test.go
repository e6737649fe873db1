package extract

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/model/resnet"
)

// Features of real photographs with real weights are those of PyTorch, with
// LAGO_PHOTOS=all for all 208 photographs, otherwise for three.
func TestPhotographs(t *testing.T) {
	const shared = "../../../shared/"
	text, err := os.ReadFile(shared + "photos/files.txt")
	if err != nil {
		t.Skip(shared + "photos is not there")
	}
	want, err := features.ReadAll(t.Context(), shared+"photos/features-squash.npy")
	if err != nil {
		t.Fatal(err)
	}
	var list []images.Image
	for name := range strings.Lines(string(text)) {
		list = append(list, images.Image{ID: name, Path: filepath.Join(shared, "photos", strings.TrimSpace(name))})
	}
	if os.Getenv("LAGO_PHOTOS") == "" {
		list = list[:3]
	}
	n, err := resnet.Read(t.Context(), shared+"resnet/imagenet-resnet50-v1.safetensors", nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(n, images.Preprocessing(dataset.Squash, images.DefaultSize), len(list))
	if err != nil {
		t.Fatal(err)
	}
	least, i := 1.0, 0
	err = e.each(t.Context(), list, func(x []float32, err error) error {
		if err != nil {
			return err
		}
		c := cosine(x, want.Row(i))
		if !(c >= 0.999) {
			t.Errorf("%s: cosine %.5f", list[i].Path, c)
		}
		least, i = min(least, c), i+1
		return nil
	})
	if err != nil || i != len(list) {
		t.Fatalf("%d images: %v", i, err)
	}
	t.Logf("%d photographs, least cosine %.6f", i, least)
}

func cosine(x, y []float32) float64 {
	var xy, xx, yy float64
	for i, v := range x {
		a, b := float64(v), float64(y[i])
		xy, xx, yy = xy+a*b, xx+a*a, yy+b*b
	}
	return xy / math.Sqrt(xx*yy)
}
