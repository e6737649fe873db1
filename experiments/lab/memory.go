package lab

import (
	"os"
	"runtime/debug"
	"slices"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/mapped"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// garbage is the GC percentage while trials run on large features. These have no pointers
// for the collector to follow, so collecting often costs little.
const garbage = 5

// saveMemory keeps the memory of trials on large features near the size of one copy of
// them; undo restores the GC percentage. If trials preprocess the features, the original
// ones move into a file, which each stage reads a few times from end to end.
func (l *Lab) saveMemory(trials []train.Trial) (undo func(), err error) {
	if len(l.Data.Features.Data) < mapped.Large {
		return func() {}, nil
	}
	percent := debug.SetGCPercent(garbage)
	undo = func() { debug.SetGCPercent(percent) }
	if !slices.ContainsFunc(trials, func(t train.Trial) bool { return t.Preprocess != preprocess.None }) {
		return undo, nil
	}
	if err := os.MkdirAll(l.Root, 0o755); err != nil {
		return undo, invalid.File(l.Root, err)
	}
	values, err := mapped.Move(l.Root, l.Data.Features.Data)
	if err != nil {
		return undo, err
	}
	l.Data.Features.Data = values
	for _, view := range l.views {
		view.Features.Data = values
	}
	debug.FreeOSMemory()
	return undo, nil
}
