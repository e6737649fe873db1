package xlsa17

import (
	"errors"
	"io/fs"

	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/invalid"
)

// fileError says that a file could not be read. An error about what stands in a
// MAT-file says where that is, and remains as it is; one of the system need not
// name the file a second time.
func fileError(path string, err error) error {
	var content *matlab.Error
	if errors.As(err, &content) {
		return err
	}
	var system *fs.PathError
	if errors.As(err, &system) {
		err = system.Err
	}
	return &invalid.Error{Where: path, Err: err}
}
