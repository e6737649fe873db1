//go:build shared

package resnet

import (
	"path/filepath"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/network/networktest"
)

// The features are those of PyTorch with weights by formula, given its crops of images.
func TestReferenceFeatures(t *testing.T) {
	shared := testkit.Shared(t, "resnet")
	for name, images := range map[string]int{"resnet18": 9, "resnet50": 2, "resnet101": 9} {
		t.Run(name, func(t *testing.T) {
			n := testkit.Must(New(formulaFile(t, name), nil))(t)
			networktest.CheckFeatures(t, n, images, shared+"/crops", filepath.Join(shared, name+".npy"), 1e-5)
		})
	}
}
