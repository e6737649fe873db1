package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
)

// label names each configuration by its variant and by the settings in which those
// of that variant differ, as in "k-soft, k 30".
func label(configurations []*Configuration) {
	for _, v := range model.Variants {
		var same []*Configuration
		for _, c := range configurations {
			if c.Variant() == v {
				same = append(same, c)
			}
		}
		names := differing(same)
		for _, c := range same {
			parts := []string{string(v)}
			for _, s := range protocol.Settings(c.Trial()) {
				if slices.Contains(names, s.Name) {
					parts = append(parts, s.Name+" "+value(s))
				}
			}
			c.Label = strings.Join(parts, ", ")
		}
	}
}

// identity is the settings that tell data and seeds apart, and not configurations.
var identity = []string{"dataset", "fingerprint", "stage", "seed"}

// differing returns the names of the settings in which configurations differ.
func differing(configurations []*Configuration) []string {
	if len(configurations) == 0 {
		return nil
	}
	var names []string
	for i, first := range protocol.Settings(configurations[0].Trial()) {
		if slices.Contains(identity, first.Name) {
			continue
		}
		for _, c := range configurations {
			if protocol.Settings(c.Trial())[i].Value != first.Value {
				names = append(names, first.Name)
				break
			}
		}
	}
	return names
}

// value is that of a setting as a person writes it.
func value(s protocol.Setting) string { return fmt.Sprint(s.Value) }
