package dataset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
)

func TestSamplesAndDescriptionsOfClasses(t *testing.T) {
	d := sound()
	if diff := cmp.Diff([]int{1, 3, 4, 6}, d.SamplesOf([]int{3, 1})); diff != "" {
		t.Errorf("SamplesOf (-want +got):\n%s", diff)
	}
	if got := d.SamplesOf(nil); got != nil {
		t.Errorf("SamplesOf no classes is %v", got)
	}
	u := d.Describe([]int{3, 1})
	want := dataset.Matrix[float64]{Rows: 2, Cols: 3, Data: []float64{1, 0, 0.25, 0.75, 1, 0}}
	if diff := cmp.Diff(want, u); diff != "" {
		t.Errorf("Describe (-want +got):\n%s", diff)
	}
	u.Data[0] = 0.5
	if d.Descriptions.Row(3)[0] != 1 {
		t.Error("Describe shares memory with the data set")
	}
	if diff := cmp.Diff([]int{2, 2, 2, 2}, d.SamplesPerClass()); diff != "" {
		t.Errorf("SamplesPerClass (-want +got):\n%s", diff)
	}
}

func TestSeen(t *testing.T) {
	s := dataset.Split{Train: []int{0, 4}, Val: []int{2}, Test: []int{1, 3}}
	if diff := cmp.Diff([]int{0, 2, 4}, s.Seen()); diff != "" {
		t.Errorf("Seen (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 4}, s.Train); diff != "" {
		t.Errorf("Train after Seen (-want +got):\n%s", diff)
	}
}

func TestGroupOf(t *testing.T) {
	d := sound()
	if diff := cmp.Diff([]int{0, 0, 1}, d.GroupOf()); diff != "" {
		t.Errorf("GroupOf (-want +got):\n%s", diff)
	}
	d.Groups = nil
	if got := d.GroupOf(); got != nil {
		t.Errorf("GroupOf without groups is %v, want nil", got)
	}
}
