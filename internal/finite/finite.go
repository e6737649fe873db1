// Package finite is numeric under its former names, for callers that were not moved yet.
package finite

import "github.com/lago-train/lago-train/internal/numeric"

// Is is numeric.Finite.
func Is[T numeric.Float](v T) bool { return numeric.Finite(v) }

// All is numeric.AllFinite.
func All[T numeric.Float](values []T) bool { return numeric.AllFinite(values) }

// Index is numeric.NotFinite.
func Index[T numeric.Float](values []T) int { return numeric.NotFinite(values) }
