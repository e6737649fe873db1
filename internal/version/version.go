package version

import (
	"runtime"
	"runtime/debug"
	"slices"
)

// numeric are the modules whose version may change a number.
var numeric = []string{"gorgonia.org/gorgonia", "gorgonia.org/tensor", "gonum.org/v1/gonum"}

// All returns versions by name: "go", "lago-train" and the numeric libraries.
func All() map[string]string {
	v := map[string]string{"go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v["lago-train"] = info.Main.Version
	for _, dep := range info.Deps {
		if slices.Contains(numeric, dep.Path) {
			v[dep.Path] = dep.Version
		}
	}
	return v
}
