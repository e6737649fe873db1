package download

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/lago-train/lago-train/internal/format"
)

// attempt asks for what is missing, once.
func (d *download) attempt(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(d.Stall, func() { cancel(errStalled) })
	defer watch.Stop()

	resp, err := d.request(ctx)
	if err != nil {
		return d.broken(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	want, err := d.accept(resp)
	if err != nil {
		return err
	}
	return d.receive(ctx, resp.Body, want, func() { watch.Reset(d.Stall) })
}

func (d *download) request(ctx context.Context) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return nil, err
	}
	// Lengths and ranges are those of the file, not of a compressed copy.
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "lago-train")
	if d.part.resumable() && !d.noRange {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.part.size))
		req.Header.Set("If-Range", d.part.Validator)
	}
	d.asked++
	return d.Client.Do(req)
}

// broken is the error of an exchange that came to no end.
func (d *download) broken(ctx context.Context, err error) *Error {
	if context.Cause(ctx) == errStalled {
		return &Error{Want: fmt.Sprintf("a byte within %v", d.Stall), Got: "none", Err: errStalled}
	}
	if ctx.Err() != nil {
		return &Error{Err: ctx.Err(), final: true}
	}
	// The address is told once.
	if about := (*url.Error)(nil); errors.As(err, &about) {
		err = about.Err
	}
	e := &Error{Err: err}
	if certificate := (*tls.CertificateVerificationError)(nil); errors.As(err, &certificate) {
		e.final = true
	}
	return e
}

// accept returns how many bytes the body of a response must have, -1 where that is
// unknown, and makes the part ready for them.
func (d *download) accept(resp *http.Response) (want int64, err error) {
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return 0, &Error{Want: "the file as it is", Got: "Content-Encoding " + encoding, final: true}
	}
	switch code := resp.StatusCode; code {
	case http.StatusOK:
		return d.acceptAll(resp)
	case http.StatusPartialContent:
		return d.acceptRest(resp)
	case http.StatusRequestedRangeNotSatisfiable:
		d.noRange = true
		return 0, &Error{Want: fmt.Sprintf("what follows byte %d", d.part.size), Got: "status " + resp.Status}
	default:
		again := code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout
		return 0, &Error{Want: "status 200 OK", Got: resp.Status, final: !again}
	}
}

// acceptAll begins at the beginning.
func (d *download) acceptAll(resp *http.Response) (int64, error) {
	total := resp.ContentLength
	if err := d.fits(total); err != nil {
		return 0, err
	}
	switch {
	case d.asked == 1 && d.part.size == 0:
		d.Notice(fmt.Sprintf("%s: downloading %s", redacted(d.url), length(total)))
	case d.part.size > 0:
		d.Notice(fmt.Sprintf("%s: the file has changed, or the server can't go on in the middle: starting anew", redacted(d.url)))
	}
	return total, d.part.restart(validator(resp.Header), total)
}

// length is that of a file, for people.
func length(total int64) string {
	if total < 0 {
		return "a file of unknown length"
	}
	return format.Bytes(total)
}

// fits says whether a file of n bytes, or of which n are there, is not too large.
func (d *download) fits(n int64) error {
	if n > d.MaxBytes {
		return &Error{Want: fmt.Sprintf("at most %d bytes", d.MaxBytes), Got: fmt.Sprintf("%d or more", n), final: true}
	}
	return nil
}
