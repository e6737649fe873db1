//go:build shared

package extract

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/network/networktest"
)

// Features of 208 real photographs with real weights are those of PyTorch.
func TestPhotographs(t *testing.T) {
	shared := testkit.Shared(t)
	want := testkit.Must(features.ReadAll(t.Context(), shared+"/photos/features-squash.npy"))(t)
	var list []images.Image
	for name := range strings.Lines(testkit.Read(t, shared+"/photos/files.txt")) {
		list = append(list, images.Image{ID: name, Path: filepath.Join(shared, "photos", strings.TrimSpace(name))})
	}
	n := testkit.Must(ReadNetwork(t.Context(), shared+"/resnet/imagenet-resnet50-v1.safetensors", NetworkOptions{}))(t)
	e := testkit.Must(New(n, images.Preprocessing(dataset.Squash, images.DefaultSize), len(list)))(t)
	least, i := 1.0, 0
	err := e.each(t.Context(), list, func(x []float32, err error) error {
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

// From image files, features of vision transformers are those of PyTorch up to a small part of how
// far images differ: decoders of JPEG round differently.
func TestVisionTransformers(t *testing.T) {
	shared := testkit.Shared(t)
	var list []images.Image
	for name := range strings.Lines(testkit.Read(t, shared+"/vit/files.txt")) {
		list = append(list, images.Image{ID: name, Path: filepath.Join(shared, "resnet", "images", strings.TrimSpace(name))})
	}
	for _, name := range []string{"dinov2-tiny", "clip-tiny"} {
		path := filepath.Join(t.TempDir(), "w")
		testkit.NoError(t, networktest.WriteTransformer(path, name))
		w := testkit.Must(ReadNetwork(t.Context(), path, NetworkOptions{}))(t)
		want := testkit.Must(features.ReadAll(t.Context(), shared+"/vit/"+name+".npy"))(t)
		distance := func(x, y []float32) (sum float64) {
			for i, v := range x {
				sum += float64(v-y[i]) * float64(v-y[i])
			}
			return math.Sqrt(sum)
		}
		var apart float64
		for i := range list {
			for j := range list {
				apart += distance(want.Row(i), want.Row(j)) / float64(len(list)*(len(list)-1))
			}
		}
		e, i := testkit.Must(New(w, w.Preprocessing(dataset.Crop, images.DefaultSize), len(list)))(t), 0
		testkit.NoError(t, e.each(t.Context(), list, func(x []float32, err error) error {
			limit := 0.02
			if strings.Contains(list[i].ID, ".jpg") {
				limit = 0.05
			}
			if d := distance(x, want.Row(i)) / apart; err != nil || !(d <= limit) {
				t.Errorf("%s, %s: %g of the distance between images, of at most %g (%v)", name, list[i].ID, d, limit, err)
			}
			i++
			return nil
		}))
	}
}
