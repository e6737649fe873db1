package images

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
)

const shared = "../../../shared/resnet"

// The crops of torchvision: those of lossless images within 1 level at every pixel.
func TestReferenceCrops(t *testing.T) {
	names, err := os.ReadDir(shared + "/images")
	if err != nil {
		t.Skip(shared + " is not there")
	}
	for _, e := range names {
		want, err := decode(t.Context(), filepath.Join(shared, "crops", e.Name()+".png"))
		if err != nil {
			t.Fatal(err)
		}
		x, err := decode(t.Context(), filepath.Join(shared, "images", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.square(Preprocessing(dataset.Crop, DefaultSize))
		if err != nil {
			t.Fatal(err)
		}
		if got.w != want.w || got.h != want.h {
			t.Fatalf("%s: %d x %d, expected %d x %d", e.Name(), got.w, got.h, want.w, want.h)
		}
		limit, worst, sum := 1, 0, 0
		if strings.HasSuffix(e.Name(), ".jpg") {
			limit = 6
		}
		for i, v := range got.rgb {
			d := int(v) - int(want.rgb[i])
			d = max(d, -d)
			worst = max(worst, d)
			sum += d
		}
		t.Logf("%s (%d x %d): at most %d levels, %.4f in the mean", e.Name(), x.w, x.h, worst, float64(sum)/float64(len(got.rgb)))
		if worst > limit {
			t.Errorf("%s: a pixel differs by %d levels, of at most %d", e.Name(), worst, limit)
		}
	}
}
