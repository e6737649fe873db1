package main

import (
	"strings"
	"testing"
)

func TestFlagsFirst(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"dataset info cub", "dataset info -- cub"},
		{"dataset info cub --data-dir d --json", "dataset info --data-dir d --json -- cub"},
		{"dataset info --json cub --data-dir=d", "dataset info --json --data-dir=d -- cub"},
		{"dataset info --data-dir d cub", "dataset info --data-dir d -- cub"},
		{"dataset info cub awa2", "dataset info -- cub awa2"},
		{"dataset info -- --json", "dataset info -- --json"},
		{"dataset info --json", "dataset info --json"},
		{"dataset info cub --data-dir", "dataset info --data-dir"},
		{"dataset info cub --unknown x", "dataset info --unknown -- cub x"},
		{"run --epochs 2 cub", "run --epochs 2 cub"}, // takes no argument
		{"dataset", "dataset"},
		{"nonsense cub --json", "nonsense cub --json"},
		{"", ""},
	} {
		got := flagsFirst(newApp(), append([]string{"lago-train"}, strings.Fields(c.args)...))
		if strings.Join(got[1:], " ") != c.want {
			t.Errorf("%s: %q, expected %s", c.args, got[1:], c.want)
		}
	}
}

func TestFlagsMayFollowTheName(t *testing.T) {
	if out := succeeds(t, "dataset", "info", "glyphs", "--json"); !strings.HasPrefix(out, "{") {
		t.Errorf("expected JSON, found %s", out)
	}
}
