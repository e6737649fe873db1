package format

import (
	"testing"
	"time"

	"github.com/lago-train/lago-train/internal/testkit"
)

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		p       Progress
		seconds time.Duration
		want    string
	}{
		{Progress{What: "downloading", Done: 300e6, Total: 879e6, before: 300e6}, 0, "downloading: 300.0 MB of 879.0 MB"}, // of an earlier command
		{Progress{What: "downloading", Done: 372e6, Total: 879e6, before: 300e6}, 6, "downloading: 372.0 MB of 879.0 MB, 12.0 MB/s, about 42s left"},
		{Progress{What: "downloading", Done: 1e6, Total: -1}, 10, "downloading: 1.0 MB, 100.0 kB/s"},
		{Progress{What: "extracting", Unit: "images", Done: 8, Total: 40}, 4, "extracting: 8 of 40 images, 2 images/s, about 16s left"},
		{Progress{What: "extracting", Unit: "images", Done: 40, Total: 40, before: 8}, 4, "extracting: 40 of 40 images, 8 images/s"},
		{Progress{What: "training", Unit: "runs", Done: 1, Total: 3, More: "2 running"}, 60, "training: 1 of 3 runs, 2 running, about 2m0s left"},
		{Progress{What: "dev", Unit: "epochs", Done: 10, Total: 20, Later: 20, AtMost: true}, 5, "dev: 10 of 20 epochs, 2 epochs/s, up to 15s left"},
	} {
		testkit.Equal(t, "progress", c.p.after(c.seconds*time.Second), c.want)
	}
}
