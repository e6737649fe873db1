package version_test

import (
	"testing"

	"github.com/lago-train/lago-train/internal/version"
)

func TestAll(t *testing.T) {
	if v := version.All(); v["go"] == "" || v["platform"] == "" || v["time"] != "" {
		t.Errorf("found %v, expected the versions of Go and of the platform", v)
	}
}
