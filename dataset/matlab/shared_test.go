package matlab

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/internal/testkit"
)

// The published files: sizes, and the sums that scipy.io.loadmat gives.
func TestSharedFiles(t *testing.T) {
	for _, c := range []struct {
		file, variable string
		dims           []int
		sum            float64
	}{
		{"CUB127/res50.mat", "features", []int{2048, 7456}, 5429137.861509442},
		{"CUB127/res50.mat", "labels", []int{7456, 1}, 478695},
		{"CUB127/att_splits.mat", "original_att", []int{312, 127}, 449432.7229848504},
		{"xlsa17/CUB/att_splits.mat", "original_att", []int{312, 200}, 710593.7462644577},
		{"xlsa17/AWA2/att_splits.mat", "original_att", []int{85, 50}, 88370.22011836618},
		{"xlsa17/AWA2/att_splits-without-train_loc.mat", "original_att", []int{85, 50}, 88370.22011836618},
		{"xlsa17/SUN/att_splits.mat", "original_att", []int{102, 717}, 5917.10006846115},
	} {
		t.Run(c.file+" "+c.variable, func(t *testing.T) {
			path := testkit.Shared(t, "data", c.file)
			a := testkit.Must(Read(t.Context(), path, c.variable))(t)[c.variable]
			if diff := cmp.Diff(c.dims, a.Dims); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var sum float64
			for _, v := range a.Float32 {
				sum += float64(v)
			}
			testkit.Near(t, "sum", sum, c.sum, 1e-10)
		})
	}
	path := testkit.Shared(t, "data", "CUB127", "res50.mat")
	files := testkit.Must(Read(t.Context(), path, "image_files"))(t)["image_files"].Strings
	if len(files) != 7456 || files[0] != "001.Black_footed_Albatross/Black_Footed_Albatross_0046_18.jpg" {
		t.Errorf("%d files, the first %q", len(files), files[0])
	}
}
