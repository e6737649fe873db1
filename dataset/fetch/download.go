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
	"strconv"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// worthwhile is how many bytes make an attempt a success, so that a download that
// advances between interruptions is not given up.
const worthwhile = 1 << 20

// download is one file that is being downloaded. The bytes received so far are in PATH.part,
// and what tells that the server's file is still the same in PATH.part.validator, in two lines.
type download struct {
	*fetcher
	step  string
	from  *url.URL
	watch *time.Timer // cancels an attempt that receives nothing

	part      *os.File
	validator string // ETag or Last-Modified; empty if the server sends neither
	size      int64  // bytes in part
	total     int64  // bytes of the whole file; -1 if unknown
}

const resumes = "The same command resumes what was downloaded."

// permanent is an error that another attempt would have as well.
type permanent struct{ error }

// download downloads a file to path, which must not exist. The caller has the lock of the folder.
func (f *fetcher) download(ctx context.Context, step string, from *url.URL, path string) error {
	for _, own := range []string{path + ".part", path + ".part.validator"} {
		// A link would be followed, and a pipe waited for.
		if info, err := os.Lstat(own); err == nil && !info.Mode().IsRegular() {
			if err := os.Remove(own); err != nil {
				return err
			}
		}
	}
	part, err := os.OpenFile(path+".part", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	d := &download{fetcher: f, step: step, from: from, part: part, total: -1}
	err = errors.Join(d.run(ctx), part.Sync(), part.Close())
	if err == nil {
		return errors.Join(fileio.Rename(part.Name(), path), os.Remove(part.Name()+".validator"))
	}
	failed := &invalid.Error{Where: from.Redacted(), Err: err}
	if d.size > 0 && d.validator != "" {
		failed.Hint = resumes
	} else { // the server cannot be asked for the rest
		_ = removePart(path) // it only takes space
	}
	return failed
}

// removePart removes what was downloaded so far of a file.
func removePart(path string) error {
	return errors.Join(os.RemoveAll(path+".part"), os.RemoveAll(path+".part.validator"))
}

// run makes attempts until the file is complete.
func (d *download) run(ctx context.Context) (err error) {
	stored, _ := os.ReadFile(d.part.Name() + ".validator") // without it, all is downloaded again
	validator, total, _ := strings.Cut(string(stored), "\n")
	if d.validator = validator; d.validator != "" {
		if d.total, err = strconv.ParseInt(total, 10, 64); err != nil {
			d.total = -1
		}
		d.size, err = d.part.Seek(0, io.SeekEnd)
	} else {
		err = d.restart("", -1)
	}
	if err != nil {
		return err
	}
	for failures, best := 1, d.size; ; failures++ {
		err := d.attempt(ctx)
		if err == nil || ctx.Err() != nil || errors.As(err, new(permanent)) ||
			errors.As(err, new(*fs.PathError)) {
			return err
		}
		if d.size >= best+worthwhile {
			failures, best = 1, d.size
		}
		if failures >= d.Attempts {
			return fmt.Errorf("%w, after %s", err, format.Count(failures, "attempt"))
		}
		wait := min(d.pause<<min(failures-1, 10), 30*time.Second)
		logrus.Infof("%s: %v; attempt %d of %d in %v", d.from.Redacted(), err, failures+1, d.Attempts, wait)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// restart empties the part, for a file with the given validator and size.
func (d *download) restart(validator string, total int64) error {
	d.size, d.total, d.validator = 0, total, validator
	if err := d.part.Truncate(0); err != nil {
		return err
	}
	return os.WriteFile(d.part.Name()+".validator", fmt.Appendf(nil, "%s\n%d", validator, total), 0o666)
}

// attempt requests what the part lacks, once, or the whole file where the server cannot tell
// that it is still the same. The error is nil if the file is complete.
func (d *download) attempt(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := &invalid.Error{Want: fmt.Sprintf("a byte within %v", d.Stall), Got: "none"}
	d.watch = time.AfterFunc(d.Stall, func() { cancel(stalled) })
	defer func() {
		d.watch.Stop()
		if err != nil && context.Cause(ctx) == stalled {
			err = stalled
		}
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.from.String(), nil)
	if err != nil {
		return err
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
		// with bytes of the server
		return &invalid.Error{Want: "a response", Got: format.Printable(fmt.Sprintf("%.300v", about.Err))}
	}
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // nothing was written
	if err := d.accept(resp); err != nil {
		return err
	}
	return d.receive(resp.Body)
}

// accept prepares the part for the body of a response.
func (d *download) accept(resp *http.Response) error {
	validator := resp.Header.Get("Etag")
	if !strings.HasPrefix(validator, `"`) { // If-Range takes no weak ETag
		validator = resp.Header.Get("Last-Modified")
	}
	var first, last, total int64
	// n < 3 is the error
	n, _ := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total)
	partial := resp.StatusCode == http.StatusPartialContent
	same := validator == d.validator && n == 3 && first == d.size && first <= last && last < total &&
		(d.total < 0 || d.total == total)
	// The server's own text could hold anything.
	status := &invalid.Error{
		Want: "status 200 OK", Got: fmt.Sprint(resp.StatusCode, " ", http.StatusText(resp.StatusCode)),
	}
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		return d.restart(validator, resp.ContentLength)
	case partial && same:
		d.total = total
		logrus.Infof("%s: resuming after %s of %s", d.from.Redacted(), format.Bytes(d.size),
			format.Bytes(total))
		return nil
	case d.size > 0 && (partial || code == http.StatusRequestedRangeNotSatisfiable):
		status.Want, status.Hint = "the rest of the same file", "The whole file is downloaded again."
		return cmp.Or(d.restart("", -1), error(status))
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return status
	}
	return permanent{status}
}

func (d *download) receive(body io.Reader) error {
	end := d.total
	if end < 0 {
		end = d.maxBytes
	}
	_, err := io.Copy(io.MultiWriter(d, d.meter(d.step, d.size, d.total)), io.LimitReader(body, end-d.size+1))
	switch {
	case d.size > end: // which of the bytes are the file's is unknown
		return cmp.Or(d.restart("", -1),
			error(&invalid.Error{Want: fmt.Sprintf("at most %d bytes", end), Got: "more"}))
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
