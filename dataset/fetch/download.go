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

	part *os.File
	size int64 // bytes in part
	partState

	requests int
	restart  bool // request the whole file, since the server's ranges were wrong
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
func (f *fetcher) download(ctx context.Context, address, path string, m *meter) error {
	d := &download{fetcher: f, address: address, shown: redact(address), meter: m}
	if err := d.open(path + ".part"); err != nil {
		return err
	}
	if err := d.run(ctx); err != nil {
		err = errors.Join(err, d.part.Close())
		if f.kept = d.describePart(); f.kept == "" {
			_ = os.Remove(d.part.Name()) // of no use, but harmless
			_ = os.Remove(d.statePath())
		}
		return err
	}
	if err := errors.Join(d.part.Sync(), d.part.Close()); err != nil {
		return err
	}
	if err := atomicfile.Rename(d.part.Name(), path); err != nil {
		return err
	}
	if err := os.Remove(d.statePath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d *download) statePath() string { return d.part.Name() + ".json" }

// open opens the part, and empties it if it cannot be resumed.
func (d *download) open(path string) (err error) {
	if err := errors.Join(checkRegular(path), checkRegular(path+".json")); err != nil {
		return err
	}
	if d.part, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return err
	}
	if d.size, err = d.part.Seek(0, io.SeekEnd); err == nil && !d.readState() {
		err = d.empty()
	}
	if err != nil {
		return errors.Join(err, d.part.Close())
	}
	return nil
}

// readState reads the state of the part and reports whether it fits.
func (d *download) readState() bool {
	f, err := os.Open(d.statePath())
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // nothing was written
	err = json.NewDecoder(io.LimitReader(f, 1<<16)).Decode(&d.partState)
	return err == nil && d.Validator != "" && (d.Total < 0 || d.size <= d.Total)
}

// empty drops what was downloaded.
func (d *download) empty() error {
	d.size, d.partState = 0, partState{Total: -1}
	_, err := d.part.Seek(0, io.SeekStart)
	return errors.Join(err, d.part.Truncate(0))
}

// resumable reports whether the server can be asked for the rest of the file.
func (d *download) resumable() bool { return d.size > 0 && d.Validator != "" }

func (d *download) describePart() string {
	if !d.resumable() {
		return ""
	}
	return fmt.Sprintf("%s are kept in %s, from where the same command resumes.", format.Bytes(d.size), d.part.Name())
}

// run makes attempts until the file is complete.
func (d *download) run(ctx context.Context) error {
	failures, best := 0, d.size
	for d.size != d.Total {
		err := d.attempt(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
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
			return &invalid.Error{Err: err, Hint: hints(d.describePart(), alternative(d.address))}
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
func (d *download) attempt(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := mismatch(fmt.Sprintf("a byte within %v", d.Stall), "none")
	watch := time.AfterFunc(d.Stall, func() { cancel(stalled) })
	defer watch.Stop()
	err := d.exchange(ctx, func() { watch.Reset(d.Stall) })
	if err != nil && context.Cause(ctx) == stalled {
		return stalled
	}
	return err
}

// exchange makes a request and receives the response. It calls alive for each piece.
func (d *download) exchange(ctx context.Context, alive func()) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.address, nil)
	if err != nil {
		return err
	}
	// Lengths and ranges are those of the file, not of a compressed copy.
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "lago-train")
	if d.resumable() && !d.restart {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.size))
		req.Header.Set("If-Range", d.Validator)
	}
	d.requests++
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return withoutAddress(err)
	}
	defer func() { _ = resp.Body.Close() }()
	length, err := d.accept(resp)
	if err != nil {
		return err
	}
	return d.receive(resp.Body, length, alive)
}

// withoutAddress returns the cause of a failed request, whose address is printed with it.
func withoutAddress(err error) error {
	if about := (*url.Error)(nil); errors.As(err, &about) {
		err = about.Err
	}
	if errors.As(err, new(*tls.CertificateVerificationError)) {
		return permanent{err}
	}
	if text := err.Error(); len(text) > 300 { // with a header, for example
		err = errors.New(text[:300])
	}
	return &invalid.Error{Want: "a response", Err: err}
}

// accept returns the length that the body of a response must have, -1 if unknown, and
// prepares the part for it.
func (d *download) accept(resp *http.Response) (length int64, err error) {
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return 0, permanent{mismatch("the file itself", fmt.Sprintf("Content-Encoding %.50q", encoding))}
	}
	// The server's own text could hold anything.
	status := fmt.Sprint(resp.StatusCode, " ", http.StatusText(resp.StatusCode))
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		return resp.ContentLength, d.begin(resp)
	case code == http.StatusPartialContent && resp.Request.Header.Get("Range") != "":
		length, err = d.resume(resp)
		d.restart = err != nil
		return length, err
	case code == http.StatusRequestedRangeNotSatisfiable:
		d.restart = true
		return 0, mismatch(fmt.Sprintf("the bytes from %d", d.size), "status "+status)
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return 0, mismatch("status 200 OK", status)
	}
	return 0, permanent{mismatch("status 200 OK", status)}
}

// validator identifies the content of a response for If-Range, which takes no weak ETag.
func validator(resp *http.Response) string {
	if tag := resp.Header.Get("Etag"); strings.HasPrefix(tag, `"`) {
		return tag
	}
	return resp.Header.Get("Last-Modified")
}

// begin prepares the part for a whole file.
func (d *download) begin(resp *http.Response) error {
	length := resp.ContentLength
	if length > d.maxBytes {
		return d.tooLarge()
	}
	if d.size > 0 {
		d.Notice(d.shown + ": the file has changed or the server cannot resume; starting from the beginning")
	} else if d.requests == 1 {
		size := "a file of unknown length"
		if length >= 0 {
			size = format.Bytes(length)
		}
		d.Notice(d.shown + ": downloading " + size)
	}
	// A process that is killed in between leaves an empty part.
	if err := d.empty(); err != nil {
		return err
	}
	d.partState = partState{validator(resp), length}
	return atomicfile.WriteJSON(d.statePath(), d.partState)
}

func (d *download) tooLarge() error {
	return permanent{mismatch(fmt.Sprintf("at most %d bytes", d.maxBytes), "more")}
}

// resume checks that a response continues the part, and returns its length.
func (d *download) resume(resp *http.Response) (length int64, err error) {
	// Not every server repeats the validator.
	if now := validator(resp); now != "" && now != d.Validator {
		return 0, mismatch(fmt.Sprintf("the rest of the file %.50q", d.Validator), fmt.Sprintf("that of %.50q", now))
	}
	var first, last, total int64
	text := resp.Header.Get("Content-Range")
	n, _ := fmt.Sscanf(text, "bytes %d-%d/%d", &first, &last, &total) // n < 3 is the error
	length = last - first + 1
	switch {
	case n != 3 || first != d.size || last < first || last >= total || d.Total >= 0 && total != d.Total,
		resp.ContentLength >= 0 && resp.ContentLength != length:
		return 0, mismatch(fmt.Sprintf("a Content-Range from byte %d", d.size), fmt.Sprintf("%.50q with %d bytes", text, resp.ContentLength))
	case total > d.maxBytes:
		return 0, d.tooLarge()
	}
	d.Total = total
	if d.requests == 1 {
		d.Notice(fmt.Sprintf("%s: resuming after %s of %s", d.shown, format.Bytes(d.size), format.Bytes(total)))
	}
	return length, nil
}

// receive appends a body to the part; its length is -1 if unknown.
func (d *download) receive(body io.Reader, length int64, alive func()) error {
	most := d.maxBytes - d.size
	if length >= 0 {
		most = length
	}
	before := d.size
	d.meter.done, d.meter.total = before, d.Total
	_, err := io.Copy(&partWriter{d, alive}, io.LimitReader(body, most+1))
	switch got := d.size - before; {
	case errors.As(err, new(*fs.PathError)):
		return err
	case got > most:
		// Which of the bytes are the file's is unknown.
		d.restart = true
		err := mismatch(fmt.Sprintf("%d bytes", length), "more")
		if length < 0 {
			err = d.tooLarge()
		}
		return cmp.Or(d.empty(), err)
	case err == nil && d.Total < 0:
		d.Total = d.size
	}
	if d.size == d.Total {
		return nil
	}
	want := "the end of the file"
	if d.Total >= 0 {
		want = fmt.Sprintf("%d bytes", d.Total)
	}
	return &invalid.Error{Want: want, Got: fmt.Sprintf("an end after %d", d.size), Err: err}
}

// partWriter appends to the part.
type partWriter struct {
	*download
	alive func()
}

func (w *partWriter) Write(b []byte) (int, error) {
	w.alive()
	n, err := w.part.Write(b)
	w.size += int64(n)
	if err != nil {
		return n, err
	}
	return w.meter.Write(b)
}
