package xlsa17

import (
	"context"
	"errors"

	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/invalid"
)

// fileError says that a file could not be read. An error about what stands in a
// MAT-file says where that is, and remains as it is; one of the system need not
// name the file a second time.
func fileError(path string, err error) error {
	var content *matlab.Error
	var file *invalid.Error
	if errors.As(err, &content) || errors.As(err, &file) || errors.Is(err, context.Canceled) {
		return err
	}
	return invalid.File(path, err)
}
