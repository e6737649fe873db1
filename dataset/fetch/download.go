package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// worthwhile is how many bytes make an attempt a success, so that a download that
// advances between interruptions is not given up.
const worthwhile = 1 << 20

// download is one call of fetcher.download. The bytes received so far are in PATH.part,
// and what a later process needs to resume is in PATH.part.json.
type download struct {
	*fetcher
	address string
	shown   string // address without password
	meter   *meter
	watch   *time.Timer // cancels an attempt that receives nothing

	part *os.File
	size int64 // bytes in part
	partState
}

type partState struct {
	Validator string `json:"validator"` // ETag or Last-Modified; empty if the server sends neither
	Total     int64  `json:"total"`     // bytes of the whole file; -1 if unknown
}

// permanent is an error that another attempt would have as well.
type permanent struct{ error }

func mismatch(want, got string) error { return &invalid.Error{Want: want, Got: got} }

// download downloads the file at an http or https address to path, which must not
// exist. The caller has the lock of the folder.
func (f *fetcher) download(ctx context.Context, step, address, path string) error {
	part, state := path+".part", path+".part.json"
	file, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	d := &download{fetcher: f, address: address, shown: redact(address), meter: f.meter(step), part: file}
	if err = d.readState(); err == nil {
		err = d.run(ctx)
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		if f.kept = d.describePart(); f.kept == "" {
			_, _ = os.Remove(part), os.Remove(state) // of no use, but harmless
		}
		return err
	}
	return cmp.Or(atomicfile.Rename(part, path), os.RemoveAll(state)) // none if the length was unknown
}

// readState reads the size and the state of the part, and empties it if they do not fit.
func (d *download) readState() (err error) {
	if d.size, err = d.part.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	text, err := os.ReadFile(d.part.Name() + ".json")
	if err == nil && json.Unmarshal(text, &d.partState) == nil && d.Validator != "" && (d.Total < 0 || d.size <= d.Total) {
		return nil
	}
	return d.empty()
}

// empty drops what was downloaded.
func (d *download) empty() error {
	d.size, d.partState = 0, partState{Total: -1}
	_, err := d.part.Seek(0, io.SeekStart)
	return errors.Join(err, d.part.Truncate(0))
}

// describePart is empty if the server cannot be asked for the rest of the file.
func (d *download) describePart() string {
	if d.size == 0 || d.Validator == "" {
		return ""
	}
	return fmt.Sprintf("%s are kept in %s, from where the same command resumes.", format.Bytes(d.size), d.part.Name())
}

// run makes attempts until the file is complete.
func (d *download) run(ctx context.Context) error {
	failures, best := 0, d.size
	for d.size != d.Total {
		err := d.attempt(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if disk := (*fs.PathError)(nil); errors.As(err, &disk) {
			return &invalid.Error{Where: disk.Path, Err: disk.Err, Hint: d.describePart()}
		}
		if d.size >= best+worthwhile {
			failures, best = 0, d.size
		}
		failures++
		final, isFinal := err.(permanent)
		if isFinal {
			err = final.error
		} else if failures >= d.Attempts && failures > 1 {
			err = fmt.Errorf("%w, after %d attempts", err, failures)
		}
		err = invalid.At(d.shown, err)
		if isFinal || failures >= d.Attempts {
			return &invalid.Error{Err: err, Hint: strings.TrimSpace(d.describePart() + " " + alternative(d.address))}
		}
		wait := min(d.pause<<min(failures-1, 10), 30*time.Second)
		d.Notice(fmt.Sprintf("%v; attempt %d of %d in %v", err, failures+1, d.Attempts, wait))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
	return nil
}

// attempt requests what is missing, once. The error is nil if the file is complete.
func (d *download) attempt(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := mismatch(fmt.Sprintf("a byte within %v", d.Stall), "none")
	d.watch = time.AfterFunc(d.Stall, func() { cancel(stalled) })
	defer func() {
		if d.watch.Stop(); err != nil && context.Cause(ctx) == stalled {
			err = stalled
		}
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.address, nil)
	if err != nil {
		return err
	}
	// Lengths and ranges are those of the file, not of a compressed copy.
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "lago-train")
	if d.size > 0 && d.Validator != "" {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.size))
		req.Header.Set("If-Range", d.Validator)
	}
	resp, err := http.DefaultClient.Do(req)
	if about := (*url.Error)(nil); errors.As(err, &about) { // the address is printed with it
		failed := &invalid.Error{Want: "a response", Err: fmt.Errorf("%.300v", about.Err)}
		if errors.As(err, new(*tls.CertificateVerificationError)) {
			return permanent{failed}
		}
		return failed
	}
	defer func() { _ = resp.Body.Close() }()
	length, err := d.accept(resp)
	if err != nil {
		return err
	}
	return d.receive(resp.Body, length)
}

// accept prepares the part for the body of a response, and returns the length that this
// must have, -1 if unknown.
func (d *download) accept(resp *http.Response) (length int64, err error) {
	validator := resp.Header.Get("Etag")
	if !strings.HasPrefix(validator, `"`) { // If-Range takes no weak ETag
		validator = resp.Header.Get("Last-Modified")
	}
	var first, last, total int64
	n, _ := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total) // n < 3 is the error
	length = resp.ContentLength
	continues := n == 3 && first == d.size && first <= last && last < total && (d.Total < 0 || total == d.Total) &&
		(length < 0 || length == last-first+1) && (validator == "" || validator == d.Validator) // not every server repeats it
	// The server's own text could hold anything.
	status := mismatch("status 200 OK", fmt.Sprint(resp.StatusCode, " ", http.StatusText(resp.StatusCode)))
	ranged := resp.Request.Header.Get("Range") != ""
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		// A process that is killed in between leaves an empty part.
		err := d.empty()
		d.partState = partState{validator, length}
		if err := cmp.Or(err, atomicfile.WriteJSON(d.part.Name()+".json", d.partState)); err != nil {
			return 0, err
		}
	case code == http.StatusPartialContent && ranged && continues:
		length, d.Total = last-first+1, total
		d.Notice(fmt.Sprintf("%s: resuming after %s of %s", d.shown, format.Bytes(d.size), format.Bytes(total)))
	case code == http.StatusPartialContent && ranged, code == http.StatusRequestedRangeNotSatisfiable:
		return 0, cmp.Or(d.empty(), mismatch("the rest of the file that was downloaded in part", "something else"))
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return 0, status
	default:
		return 0, permanent{status}
	}
	if d.Total > d.maxBytes {
		return 0, permanent{mismatch(fmt.Sprintf("at most %d bytes", d.maxBytes), fmt.Sprint(d.Total))}
	}
	return length, nil
}

// receive appends a body to the part; its length is -1 if unknown.
func (d *download) receive(body io.Reader, length int64) error {
	end := d.maxBytes
	if length >= 0 {
		end = min(end, d.size+length)
	}
	d.meter.done, d.meter.total = d.size, d.Total
	_, err := io.Copy(d, io.LimitReader(body, end-d.size+1))
	switch {
	case errors.As(err, new(*fs.PathError)):
		return err
	case d.size > end: // which of the bytes are the file's is unknown
		err = mismatch(fmt.Sprintf("at most %d bytes", end), "more")
		if end == d.maxBytes {
			err = permanent{err}
		}
		return cmp.Or(d.empty(), err)
	case err == nil && d.Total < 0:
		d.Total = d.size
	}
	if d.size == d.Total {
		return nil
	}
	return &invalid.Error{Want: fmt.Sprintf("%d bytes", d.Total), Got: fmt.Sprintf("an end after %d", d.size), Err: err}
}

// Write appends to the part.
func (d *download) Write(b []byte) (int, error) {
	d.watch.Reset(d.Stall)
	n, err := d.part.Write(b)
	d.size += int64(n)
	_, _ = d.meter.Write(b[:n]) // never fails
	return n, err
}
