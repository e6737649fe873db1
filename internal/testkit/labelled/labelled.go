// Package labelled makes methods from their labels, for tests.
package labelled

import (
	"slices"

	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// Method returns a variant of LAGO or a baseline with its defaults.
func Method(label string) methods.Named {
	if v := model.Variant(label); slices.Contains(model.Variants, v) {
		return methods.Variant(v)
	}
	e, err := methods.Find(label)
	if err != nil {
		panic(err)
	}
	return e.Default()
}
