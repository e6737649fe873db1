package version

import (
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	info := &debug.BuildInfo{
		Main: debug.Module{Path: "github.com/lago-train/lago-train", Version: "v0.1.0"},
		Deps: []*debug.Module{{Path: "gonum.org/v1/gonum", Version: "v0.17.0"}, {Path: "gorgonia.org/gorgonia/examples", Version: "v0.0.1"}},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "c78fc7e"}, {Key: "vcs.modified", Value: "true"}, {Key: "vcs.time", Value: "2026"}, {Key: "GOOS", Value: "linux"},
		},
	}
	want := map[string]string{"lago-train": "v0.1.0", "revision": "c78fc7e", "modified": "true", "gonum.org/v1/gonum": "v0.17.0"}
	if diff := cmp.Diff(want, of(info)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
