package fetch

import (
	"context"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a lock is tried that another process holds.
const lockPoll = 200 * time.Millisecond

// hold takes the lock of a path, waiting for another process that has it, and
// returns what frees it. The system frees the lock of a process that dies. waiting
// is called once if there is somebody to wait for.
func hold(ctx context.Context, path string, waiting func()) (free func() error, err error) {
	for told := false; ; {
		lock := flock.New(path)
		held, err := lock.TryLock()
		if err != nil {
			return nil, err
		}
		if held && isAt(lock, path) {
			return func() error {
				// Before it is free: whoever waits for this file finds that it is gone.
				// Windows removes no file that is open, and an empty one remains there.
				_ = os.Remove(path)
				return lock.Unlock()
			}, nil
		}
		if err := lock.Unlock(); err != nil {
			return nil, err
		}
		if held {
			continue
		}
		if !told {
			waiting()
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

// isAt says whether a lock is on the file that is at the path now, not on one that
// its last holder has removed.
func isAt(lock *flock.Flock, path string) bool {
	held, err := lock.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(held, now)
}
