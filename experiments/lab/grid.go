package lab

import (
	"context"
	"slices"

	"github.com/lago-train/lago-train/train"
)

// failures are the trials that have no model.
func Failures(trials []Run) []Run {
	return slices.DeleteFunc(slices.Clone(trials), func(t Run) bool { return t.Err == nil })
}

// doAll carries out lists of trials as one grid.
func DoAll(ctx context.Context, l *Lab, lists [][]train.Trial) ([][]Run, error) {
	done, err := l.Do(ctx, slices.Concat(lists...))
	parts := make([][]Run, len(lists))
	for i, list := range lists {
		parts[i], done = done[:len(list)], done[len(list):]
	}
	return parts, err
}
