// Package version reads the versions of the program and of the libraries that can change
// its numbers from the binary, for the record of a run.
package version

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// numeric are the modules whose version may change a number.
var numeric = []string{"gorgonia.org/gorgonia", "gorgonia.org/tensor", "gonum.org/v1/gonum"}

// All returns versions by name: "go", "platform", "lago-train", the numeric libraries and,
// if the binary was built in a repository, "revision" and, as "true" or "false", "modified".
func All() map[string]string {
	v := map[string]string{"go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v["lago-train"] = info.Main.Version
	for _, s := range info.Settings {
		if name, ok := strings.CutPrefix(s.Key, "vcs."); ok && name != "time" && name != "vcs" {
			v[name] = s.Value
		}
	}
	for _, dep := range info.Deps {
		if slices.Contains(numeric, dep.Path) {
			v[dep.Path] = dep.Version
		}
	}
	return v
}
