package download

import (
	"net/http"
	"time"
)

// Options say how patient a download is, and whom it tells. The zero value is ready
// to use.
type Options struct {
	// Client makes the requests; nil means one that follows redirects and the
	// environment's proxies, and that sets no limit to the time of a whole download.
	Client *http.Client
	// Attempts is how many attempts in a row may fail with less than a megabyte
	// gained; 0 means 6.
	Attempts int
	// Backoff is how long to wait after the failures-th failure in a row, from 1;
	// nil means a second, doubled with each, up to 30.
	Backoff func(failures int) time.Duration
	// Stall is how long a server may send nothing; 0 means 30 s.
	Stall time.Duration
	// MaxBytes is the largest file that is taken; 0 means 16 GiB.
	MaxBytes int64
	// Progress is told how many bytes are there, and of how many, -1 where the
	// server doesn't say; nil tells nobody.
	Progress func(done, total int64)
	// Notice is told, in a sentence, what a user may want to know: that a broken
	// download goes on, waits, or begins anew; nil tells nobody.
	Notice func(text string)
}

const (
	defaultAttempts = 6
	defaultStall    = 30 * time.Second
	defaultMaxBytes = 16 << 30
	longestBackoff  = 30 * time.Second

	// worthwhile is the gain that makes an attempt no failure, so that a download
	// that advances between breaks isn't given up.
	worthwhile = 1 << 20
)

func (o Options) withDefaults() Options {
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	if o.Attempts == 0 {
		o.Attempts = defaultAttempts
	}
	if o.Backoff == nil {
		o.Backoff = backoff
	}
	if o.Stall == 0 {
		o.Stall = defaultStall
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	return o
}

func backoff(failures int) time.Duration {
	// A shift by more would overflow.
	return min(time.Second<<min(failures-1, 10), longestBackoff)
}
