//go:build unix && !solaris && !illumos && !aix

package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file until it is closed, or the process ends.
func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return errLocked
	}
	return err
}
