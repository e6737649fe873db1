//go:build unix

package train

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"golang.org/x/sys/unix"
)

// Named pipes in place of files are refused: reading one would block.
func TestNamedPipesAreRefused(t *testing.T) {
	d := tiny.Small()
	trial := trialOn(d, model.SemanticHard, Dev)
	for _, file := range []string{lockFile, TrialFile, CurveFile, ResultFile, checkpointFile} {
		t.Run(file, func(t *testing.T) {
			root := t.TempDir()
			interrupted(t, root, d, trial, 1)
			path := filepath.Join(root, trial.Name(), file)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := unix.Mkfifo(path, 0o600); err != nil {
				t.Skip(err)
			}
			_, err := Run(context.Background(), root, trial, data(d, trial), Options{})
			var e *invalid.Error
			if !errors.As(err, &e) || e.Where != path {
				t.Errorf("Run = %v, expected an error that names %s", err, path)
			}
		})
	}
}
