//go:build shared

package vit

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/network/networktest"
)

// The features are those of PyTorch with weights by formula, given its crops of images.
func TestReferenceFeatures(t *testing.T) {
	shared := testkit.Shared(t, "vit")
	for name, is := range map[string]string{
		"dinov2-tiny": "dinov2-128x2", "dinov2-small": "dinov2-small", "clip-tiny": "clip-vit-128x2-patch32", "clip-vit-base-patch32": "clip-vit-base-patch32",
	} {
		t.Run(name, func(t *testing.T) {
			n := formula(t, name)
			testkit.Equal(t, "name", n.Name(), is)
			family, _, _ := strings.Cut(name, "-")
			networktest.CheckFeatures(t, n, 9, shared+"/crops-"+family, filepath.Join(shared, name+".npy"), 1e-4)
		})
	}
}
