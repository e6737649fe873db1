package download

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/format"
)

// acceptRest goes on where the part ends, if that is what the response holds.
func (d *download) acceptRest(resp *http.Response) (int64, error) {
	if resp.Request.Header.Get("Range") == "" {
		return 0, &Error{Want: "the whole file", Got: resp.Status, final: true}
	}
	p := d.part
	// Whatever is wrong below, the next request asks for the whole file.
	d.noRange = true
	if now := sameKind(p.Validator, resp.Header); now != "" && now != p.Validator {
		return 0, &Error{Want: "the rest of file " + p.Validator, Got: "that of " + now}
	}
	text := resp.Header.Get("Content-Range")
	r, ok := parseContentRange(text)
	if !ok || r.first != p.size || (r.total >= 0 && p.Total >= 0 && r.total != p.Total) {
		return 0, &Error{Want: fmt.Sprintf("Content-Range bytes %d- of %s", p.size, orStar(p.Total)), Got: fmt.Sprintf("%q", text)}
	}
	want := r.last - r.first + 1
	if resp.ContentLength >= 0 && resp.ContentLength != want {
		return 0, &Error{Want: fmt.Sprintf("a length of %d bytes, by Content-Range %q", want, text), Got: fmt.Sprint(resp.ContentLength)}
	}
	if p.Total < 0 {
		p.Total = r.total
	}
	if err := d.fits(max(p.Total, r.last+1)); err != nil {
		return 0, err
	}
	d.noRange = false
	if d.asked == 1 {
		d.Notice(fmt.Sprintf("%s: going on after the %s that are here of %s", redacted(d.url), format.Bytes(p.size), format.Bytes(p.Total)))
	}
	return want, nil
}

func orStar(total int64) string {
	if total < 0 {
		return "*"
	}
	return fmt.Sprint(total)
}

// validator returns what tells a file from a later one: a strong ETag, else the time
// of the last change, else nothing. If-Range takes no weak ETag.
func validator(h http.Header) string {
	if tag := h.Get("Etag"); strings.HasPrefix(tag, `"`) {
		return tag
	}
	return h.Get("Last-Modified")
}

// sameKind returns the validator of a response that can be compared with another,
// which not every server sends with a part.
func sameKind(other string, h http.Header) string {
	if strings.HasPrefix(other, `"`) {
		return h.Get("Etag")
	}
	return h.Get("Last-Modified")
}

// contentRange is a range of bytes, the last inclusive; total is -1 where unknown.
type contentRange struct{ first, last, total int64 }

// parseContentRange reads "bytes 100-199/200" and "bytes 100-199/*".
func parseContentRange(text string) (r contentRange, ok bool) {
	text, ok = strings.CutPrefix(text, "bytes ")
	if !ok {
		return r, false
	}
	span, total, ok := strings.Cut(text, "/")
	first, last, dash := strings.Cut(span, "-")
	if !ok || !dash {
		return r, false
	}
	r.total = -1
	read := func(to *int64, text string) {
		n, err := strconv.ParseUint(text, 10, 62)
		ok = ok && err == nil
		*to = int64(n)
	}
	read(&r.first, first)
	read(&r.last, last)
	if total != "*" {
		read(&r.total, total)
	}
	return r, ok && r.first <= r.last && (r.total < 0 || r.last < r.total)
}
