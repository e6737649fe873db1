//go:build !unix || solaris || illumos || aix

package atomicfile

import (
	"errors"
	"os"
)

// tryLock locks nothing here, so that temporary files of killed processes stay.
func tryLock(*os.File) error { return errors.ErrUnsupported }
