package download

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// download is one call of File.
type download struct {
	Options
	url     string
	part    *part
	asked   int  // requests that were sent
	noRange bool // this server's ranges are not to be relied on
}

// File downloads the file at an http or https address to path, whose folder must
// exist, in place of any file there. It goes on from what an earlier call left. An
// error that comes from the server or the way there, or from the end of ctx, is an
// *Error; what was downloaded until then remains.
func File(ctx context.Context, address, path string, o Options) error {
	if err := check(address); err != nil {
		return err
	}
	p, err := openPart(path, address)
	if err != nil {
		return err
	}
	d := &download{Options: o.withDefaults(), url: address, part: p}
	if err := d.run(ctx); err != nil {
		return errors.Join(err, p.file.Close())
	}
	return p.place(path)
}

func check(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return &Error{URL: redacted(address), Want: "an http or https address", Got: fmt.Sprintf("scheme %q and host %q", u.Scheme, u.Host), final: true}
	}
	return nil
}

// redacted is an address as it may be shown and logged.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Redacted()
}

// run makes attempts until the part is whole.
func (d *download) run(ctx context.Context) error {
	failures, best := 0, d.part.size
	for !d.part.whole() {
		err := d.attempt(ctx)
		if err == nil {
			continue
		}
		if d.part.size >= best+worthwhile {
			failures, best = 0, d.part.size
		}
		failures++
		failure := d.errorOf(err)
		if ctx.Err() != nil || failure.final || failures >= d.Attempts {
			failure.Attempts = failures
			return failure
		}
		wait := d.Backoff(failures)
		d.Notice(fmt.Sprintf("%s: %s; trying again in %v (attempt %d of %d)",
			failure.URL, failure.reason(), wait, failures+1, d.Attempts))
		if err := sleep(ctx, wait); err != nil {
			return d.errorOf(err)
		}
	}
	return nil
}

// errorOf fills in what an error doesn't know.
func (d *download) errorOf(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		// Of the disk, or the end of ctx.
		e = &Error{Err: err, final: true}
	}
	e.URL = redacted(d.url)
	if d.part.resumable() {
		e.Part, e.Done = d.part.file.Name(), d.part.size
	}
	return e
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
