//go:build shared

package images

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
)

// The crops of torchvision, and of Pillow's bicubic interpolation: those of lossless images within
// 1 level at every pixel.
func TestReferenceCrops(t *testing.T) {
	bilinear := Preprocessing(dataset.Crop, DefaultSize)
	bicubic := bilinear
	bicubic.Filter = dataset.Bicubic
	whole := bicubic
	whole.Resize = DefaultSize
	shared := testkit.Shared(t)
	for crops, p := range map[string]dataset.ImagePreprocessing{"resnet/crops": bilinear, "vit/crops-dinov2": bicubic, "vit/crops-clip": whole} {
		p.Mean, p.Std = [3]float64{}, [3]float64{1. / 255, 1. / 255, 1. / 255} // levels
		got := make([]float32, 3*DefaultSize*DefaultSize)
		for _, e := range testkit.Must(os.ReadDir(filepath.Join(shared, "resnet", "images")))(t) {
			want, err := decode(t.Context(), Image{Path: filepath.Join(shared, crops, e.Name()+".png")}, true)
			testkit.NoError(t, err)
			testkit.NoError(t, Load(t.Context(), Image{Path: filepath.Join(shared, "resnet", "images", e.Name())}, p, got))
			limit, worst, sum := 1.01, 0., 0.
			if strings.HasSuffix(e.Name(), ".jpg") {
				limit = 6
			}
			for i, v := range got {
				d := math.Abs(float64(v) - float64(want.Pix[i/3*4+i%3]))
				worst = max(worst, d)
				sum += d
			}
			t.Logf("%s/%s: at most %.2f levels, %.4f in the mean", crops, e.Name(), worst, sum/float64(len(got)))
			if worst > limit {
				t.Errorf("%s/%s: a pixel differs by %.2f levels, of at most %g", crops, e.Name(), worst, limit)
			}
		}
	}
}
