package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// worthwhile is how many bytes make an attempt a success, so that a download that
// advances between interruptions is not given up.
const worthwhile = 1 << 20

// download is one call of fetcher.download. The bytes received so far are in PATH.part, and
// what a server needs to know that its file is still the same in PATH.part.validator.
type download struct {
	*fetcher
	step, address string
	shown         string      // address without password
	watch         *time.Timer // cancels an attempt that receives nothing

	part      *os.File
	validator string // ETag or Last-Modified; empty if the server sends neither
	size      int64  // bytes in part
	total     int64  // bytes of the whole file; -1 if unknown
}

const resumes = "The same command resumes what was downloaded."

// permanent is an error that another attempt would have as well.
type permanent struct{ error }

func mismatch(want, got string) error { return &invalid.Error{Want: want, Got: got} }

// download downloads the file at an http or https address to path, which must not
// exist. The caller has the lock of the folder.
func (f *fetcher) download(ctx context.Context, step, address, path string) error {
	part, err := os.OpenFile(path+".part", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	d := &download{fetcher: f, step: step, address: address, shown: redact(address), part: part, total: -1}
	if d.size, err = part.Seek(0, io.SeekEnd); err == nil {
		err = d.run(ctx)
	}
	if err = errors.Join(err, part.Sync(), part.Close()); err == nil {
		return errors.Join(fileio.Rename(part.Name(), path), os.Remove(part.Name()+".validator"))
	}
	if d.hint() == "" {
		_, _ = os.Remove(part.Name()), os.Remove(part.Name()+".validator") // harmless if they stay
	}
	return err
}

// hint is empty if the server cannot be asked for the rest.
func (d *download) hint() string {
	if d.size == 0 || d.validator == "" {
		return ""
	}
	return resumes
}

// restart empties the part, for a file with the given validator.
func (d *download) restart(validator string) error {
	d.size, d.total, d.validator = 0, -1, validator
	return cmp.Or(d.part.Truncate(0), os.WriteFile(d.part.Name()+".validator", []byte(validator), 0o666))
}

// run makes attempts until the file is complete.
func (d *download) run(ctx context.Context) error {
	validator, err := os.ReadFile(d.part.Name() + ".validator")
	if d.validator = string(validator); err != nil || d.validator == "" {
		if err := d.restart(""); err != nil {
			return err
		}
	}
	failures, best := 0, d.size
	for {
		err := d.attempt(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if disk := (*fs.PathError)(nil); errors.As(err, &disk) {
			return &invalid.Error{Where: disk.Path, Err: disk.Err, Hint: d.hint()}
		}
		if final, ok := err.(permanent); ok {
			return &invalid.Error{Where: d.shown, Err: final.error, Hint: d.hint()}
		}
		if d.size >= best+worthwhile {
			failures, best = 0, d.size
		}
		if failures++; failures >= d.Attempts {
			return &invalid.Error{Where: d.shown, Err: fmt.Errorf("%w, after %s", err, format.Count(failures, "attempt")), Hint: d.hint()}
		}
		wait := min(d.pause<<min(failures-1, 10), 30*time.Second)
		d.Notice(fmt.Sprintf("%s: %v; attempt %d of %d in %v", d.shown, err, failures+1, d.Attempts, wait))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// attempt requests what is missing, once. The error is nil if the file is complete.
func (d *download) attempt(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := mismatch(fmt.Sprintf("a byte within %v", d.Stall), "none")
	d.watch = time.AfterFunc(d.Stall, func() { cancel(stalled) })
	defer d.watch.Stop()
	resp, err := d.request(ctx)
	if err == nil {
		defer func() { _ = resp.Body.Close() }() // nothing was written
		if err = d.accept(resp); err == nil {
			err = d.receive(resp.Body)
		}
	}
	if err != nil && context.Cause(ctx) == stalled {
		return stalled
	}
	return err
}

// request asks for what the part lacks, if the server can tell that it is still the same file.
func (d *download) request(ctx context.Context) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.address, nil)
	if err != nil {
		return nil, err
	}
	// Lengths and ranges are those of the file, not of a compressed copy.
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "lago-train")
	if d.size > 0 && d.validator != "" {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.size))
		req.Header.Set("If-Range", d.validator)
	}
	resp, err := http.DefaultClient.Do(req)
	if about := (*url.Error)(nil); errors.As(err, &about) { // the address is printed with it
		return nil, &invalid.Error{Want: "a response", Err: fmt.Errorf("%.300v", about.Err)}
	}
	return resp, err
}

// accept prepares the part for the body of a response.
func (d *download) accept(resp *http.Response) error {
	validator := resp.Header.Get("Etag")
	if !strings.HasPrefix(validator, `"`) { // If-Range takes no weak ETag
		validator = resp.Header.Get("Last-Modified")
	}
	var first, last, total int64
	contentRange := resp.Header.Get("Content-Range")
	n, _ := fmt.Sscanf(contentRange, "bytes %d-%d/%d", &first, &last, &total) // n < 3 is the error
	fits := n == 3 && first == d.size && first <= last && last < total && (d.total < 0 || total == d.total) &&
		(validator == "" || validator == d.validator) // not every server repeats it
	ranged := resp.Request.Header.Get("Range") != ""
	// The server's own text could hold anything.
	status := mismatch("status 200 OK", fmt.Sprint(resp.StatusCode, " ", http.StatusText(resp.StatusCode)))
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		err := d.restart(validator)
		d.total = resp.ContentLength
		return err
	case code == http.StatusPartialContent && ranged && fits:
		d.total = total
		d.Notice(fmt.Sprintf("%s: resuming after %s of %s", d.shown, format.Bytes(d.size), format.Bytes(total)))
		return nil
	case code == http.StatusRequestedRangeNotSatisfiable && contentRange == fmt.Sprintf("bytes */%d", d.size):
		d.total = d.size // all of it was there
		return nil
	case ranged && (code == http.StatusPartialContent || code == http.StatusRequestedRangeNotSatisfiable):
		return cmp.Or(d.restart(""), mismatch("the rest of the file that was downloaded in part", "something else"))
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return status
	}
	return permanent{status}
}

// receive appends a body to the part.
func (d *download) receive(body io.Reader) error {
	if d.size == d.total {
		return nil
	}
	end := d.total
	if end < 0 {
		end = d.maxBytes
	}
	_, err := io.Copy(io.MultiWriter(d, d.meter(d.step, d.size, d.total)), io.LimitReader(body, end-d.size+1))
	switch {
	case d.size > end: // which of the bytes are the file's is unknown
		return cmp.Or(d.restart(""), mismatch(fmt.Sprintf("at most %d bytes", end), "more"))
	case err == nil && (d.size == d.total || d.total < 0):
		return nil
	}
	return &invalid.Error{Want: "the whole file", Got: fmt.Sprintf("an end after %d bytes", d.size), Err: err}
}

// Write appends to the part.
func (d *download) Write(b []byte) (int, error) {
	d.watch.Reset(d.Stall)
	n, err := d.part.Write(b)
	d.size += int64(n)
	return n, err
}
