package glyphs

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/testkit"
)

// standard is the default data set, for tests that only read it.
var standard = sync.OnceValue(Make)

// The features and all else are those of the first version, on the architecture that made
// the results of the README.
func TestMake(t *testing.T) {
	ds := standard()
	testkit.NoError(t, check.Errors(ds))
	const want = "258675fa18814f54082a1a77d155f9e6b6482e1d1c6ab59162923f9d833f4918"
	if got := ds.Fingerprint(); got != want && runtime.GOARCH == "amd64" {
		t.Errorf("fingerprint %s, expected %s", got, want)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	testkit.Equal(t, "with one processor", Make(), ds)
}

func TestImageHasTheFeaturesOfItsRow(t *testing.T) {
	ds := standard()
	got := make([]float32, dims)
	for row := 1; row < ds.Features.Rows; row += samples + 1 {
		hog(Image(row), got)
		testkit.Equal(t, fmt.Sprintf("features of the picture of row %d", row), got, ds.Features.Row(row))
	}
}
