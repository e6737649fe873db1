package fetch

import (
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
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// worthwhile is how many bytes make an attempt a success, so that a download that
// advances between interruptions is not given up.
const worthwhile = 1 << 20

// backoff is how long to wait after a number of consecutive failures.
func backoff(failures int) time.Duration {
	return min(time.Second<<min(failures-1, 10), 30*time.Second)
}

// download is one call of fetcher.download. What is there of the file is in PATH.part,
// and what must be known to resume in a later process in PATH.part.json.
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
	Validator string `json:"validator"` // ETag or Last-Modified; empty if the file cannot be told from another
	Total     int64  `json:"total"`     // bytes of the whole file; -1 if unknown
}

// permanent is an error that another attempt would have as well.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

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
		if !d.resumable() {
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

func (d *download) resumable() bool { return d.size > 0 && d.Validator != "" }

// run makes attempts until the file is complete.
func (d *download) run(ctx context.Context) error {
	failures, best := 0, d.size
	for d.size != d.Total {
		err := d.attempt(ctx)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return &interrupted{ctx.Err(), d.kept()}
		}
		if system := (*fs.PathError)(nil); errors.As(err, &system) { // of the disk
			return &invalid.Error{Where: system.Path, Err: system.Err, Hint: d.kept()}
		}
		if d.size >= best+worthwhile {
			failures, best = 0, d.size
		}
		failures++
		final := permanent{}
		if errors.As(err, &final) {
			err = final.error
		} else if failures >= d.Attempts && failures > 1 {
			err = fmt.Errorf("%w, after %d attempts", err, failures)
		}
		err = invalid.At(d.shown, err)
		if final.error != nil || failures >= d.Attempts {
			return &invalid.Error{Err: err, Hint: hints(d.kept(), alternative(d.address))}
		}
		wait := d.backoff(failures)
		d.Notice(fmt.Sprintf("%v; attempt %d of %d in %v", err, failures+1, d.Attempts, wait))
		select {
		case <-ctx.Done():
			return &interrupted{ctx.Err(), d.kept()}
		case <-time.After(wait):
		}
	}
	return nil
}

// kept says what there is of the file.
func (d *download) kept() string {
	if !d.resumable() {
		return ""
	}
	return fmt.Sprintf("%s are kept in %s, from where the same command resumes.", format.Bytes(d.size), d.part.Name())
}

// attempt requests what is missing, once. The error is nil if the file is complete.
func (d *download) attempt(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(d.Stall, func() { cancel(errStalled) })
	defer watch.Stop()
	err := d.exchange(ctx, func() { watch.Reset(d.Stall) })
	if err != nil && context.Cause(ctx) == errStalled {
		return mismatch(fmt.Sprintf("a byte within %v", d.Stall), "none")
	}
	return err
}

var errStalled = errors.New("the server has stalled")

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
	case code == http.StatusRequestedRangeNotSatisfiable:
		err = mismatch(fmt.Sprintf("the bytes from %d", d.size), "status "+status)
	default:
		err = mismatch("status 200 OK", status)
		if code < 500 && code != http.StatusTooManyRequests && code != http.StatusRequestTimeout {
			err = permanent{err}
		}
		return 0, err
	}
	d.restart = err != nil
	return length, err
}

// begin prepares the part for a whole file.
func (d *download) begin(resp *http.Response) error {
	length := resp.ContentLength
	if length > d.maxBytes {
		return d.tooLarge()
	}
	switch {
	case d.size > 0:
		d.Notice(d.shown + ": the file has changed or the server cannot resume; starting from the beginning")
	case d.requests == 1 && length < 0:
		d.Notice(d.shown + ": downloading a file of unknown length")
	case d.requests == 1:
		d.Notice(d.shown + ": downloading " + format.Bytes(length))
	}
	// A process that is killed in between leaves an empty part.
	if err := d.empty(); err != nil {
		return err
	}
	d.Total = length
	d.Validator = resp.Header.Get("Last-Modified")
	if tag := resp.Header.Get("Etag"); strings.HasPrefix(tag, `"`) { // If-Range takes no weak one
		d.Validator = tag
	}
	return atomicfile.WriteJSON(d.statePath(), d.partState)
}

func (d *download) tooLarge() error {
	return permanent{mismatch(fmt.Sprintf("at most %d bytes", d.maxBytes), "more")}
}

var contentRange = regexp.MustCompile(`^bytes (\d{1,18})-(\d{1,18})/(?:(\d{1,18})|\*)$`)

// resume checks that a response continues the part.
func (d *download) resume(resp *http.Response) (length int64, err error) {
	// Not every server repeats the validator.
	now := resp.Header.Get("Last-Modified")
	if strings.HasPrefix(d.Validator, `"`) {
		now = resp.Header.Get("Etag")
	}
	if now != "" && now != d.Validator {
		return 0, mismatch(fmt.Sprintf("the rest of the file %.50q", d.Validator), fmt.Sprintf("that of %.50q", now))
	}
	text := resp.Header.Get("Content-Range")
	m := contentRange.FindStringSubmatch(text)
	if m == nil {
		return 0, mismatch("a Content-Range of bytes", fmt.Sprintf("%.50q", text))
	}
	// They fit, having at most 18 digits.
	first, _ := strconv.ParseInt(m[1], 10, 64)
	last, _ := strconv.ParseInt(m[2], 10, 64)
	total, known := d.Total, m[3] != ""
	if known {
		total, _ = strconv.ParseInt(m[3], 10, 64)
	}
	length = last - first + 1
	switch {
	case first != d.size || length <= 0 || (known && last >= total) || (d.Total >= 0 && total != d.Total):
		return 0, mismatch(fmt.Sprintf("a Content-Range from byte %d", d.size), fmt.Sprintf("%.50q", text))
	case resp.ContentLength >= 0 && resp.ContentLength != length:
		return 0, mismatch(fmt.Sprintf("%d bytes, as in Content-Range", length), fmt.Sprint(resp.ContentLength))
	case max(total, last+1) > d.maxBytes:
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
	got := d.size - before
	switch {
	case errors.As(err, new(*fs.PathError)):
		return err
	case got > most:
		// Which of the bytes are the file's is open.
		d.restart = true
		err := mismatch(fmt.Sprintf("%d bytes", length), "more")
		if length < 0 {
			err = d.tooLarge()
		}
		return errors.Join(d.empty(), err)
	case err == nil && d.Total < 0 && (length < 0 || got == length):
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
