package check_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

// Names of samples that say their classes, in any of their forms, show labels that were sorted.
func TestLabelsAgainstNames(t *testing.T) {
	for form, contradicted := range map[string]bool{
		"%s/%d.jpg": true, "birds/001.%s/%d.jpg": true, `C:\photos\%s\%d.jpg`: true, "%s_%d.jpg": true, "%s%d": true, "the %s, %d": false, "%.0s%d": false,
	} {
		d := tiny.Sound()
		d.Classes = []string{"Sea lion", "sea", "cat", "dog"}
		for i, z := range d.Labels {
			d.IDs = append(d.IDs, fmt.Sprintf(form, strings.ReplaceAll(strings.ToLower(d.Classes[z]), " ", "_"), i))
		}
		for _, tt := range []struct {
			what   string
			labels []int
			want   string // of the error
			warned bool
		}{
			{"as they are", d.Labels, "<nil>", false},
			{"one other", []int{2, 1, 2, 3, 3, 2, 1, 0}, "<nil>", contradicted},
			{"sorted", []int{0, 0, 1, 1, 2, 2, 3, 3}, "sound: labels: expected the classes that the names of the samples say, found another class for 6 of 8, the first sample 1, " + d.IDs[1] + `, of class "Sea lion". Were`, false},
		} {
			what := form + ", " + tt.what
			with := *d
			with.Labels = tt.labels
			if !contradicted {
				tt.want = "<nil>"
			}
			if err := check.Errors(&with); !strings.HasPrefix(fmt.Sprint(err), tt.want) {
				t.Errorf("%s: %v\nwant %s", what, err, tt.want)
			}
			testkit.Equal(t, what, strings.Contains(fmt.Sprint(check.Warnings(&with)), "found another class for 1 of 8"), tt.warned)
		}
	}
}

// Features in another order than the labels do not tell the training classes apart.
func TestOrderOfFeatures(t *testing.T) {
	const want = "features: expected values that tell training classes apart, found"
	d := tiny.Learnable()
	if err := fmt.Sprint(check.Warnings(d)); strings.Contains(err, want) {
		t.Error(err)
	}
	rand.New(rand.NewPCG(1, 0)).Shuffle(len(d.Labels), func(i, j int) { d.Labels[i], d.Labels[j] = d.Labels[j], d.Labels[i] })
	testkit.WantText(t, check.Warnings(d).Error(), want, "of 40 classes (chance: 2.5 %;")
}
