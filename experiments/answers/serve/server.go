// Package serve is a local page to describe the classes of a data set, to try a model on photographs
// and samples while descriptions change, and to find classes that descriptions do not distinguish.
//
// It listens on 127.0.0.1 alone. Every address has a random token, and requests must come from the page
// itself: Host and Origin are checked. It writes attributes.csv, classes.csv and drafts.csv of one data set,
// which it locks, and nothing else, at each change and atomically. Answers are those of package predictor.
package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"image"
	"image/jpeg"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Page says what is served.
type Page struct {
	Name     string           // of the data set
	Dir      string           // its folder, in the open layout
	Data     *dataset.Dataset // in place of Dir, a data set of another layout: it is only read
	ReadOnly bool             // write nothing
	Model    *predictor.Model // to predict with; nil for none
	// Features computes the features of the content of a photograph; nil without a network.
	Features func(ctx context.Context, name string, content []byte) ([]float32, error)
}

// The limits of requests.
const (
	maxPhotograph = 20 << 20 // bytes
	maxRequest    = 4 << 20
	maxTried      = 1000 // classes that are changed or left out for one prediction
	maxNamed      = 1000 // classes that one request adds, renames or deletes
	thumbnailSide = 160
	largeSide     = 1000 // with ?large
	timeToRead    = 30 * time.Second
	timeToAnswer  = 2 * time.Minute
	timeToStop    = 2 * time.Second
)

// Server serves the page.
type Server struct {
	Page
	token    string
	readOnly string        // why nothing is written; "" if changes are
	unlock   func() error  // the descriptions
	work     chan struct{} // of the one picture, prediction or search of similar classes at a time

	labels   []string         // class of each sample
	pictures *dataset.Dataset // only its ids and photographs
	x        func() (dataset.Matrix[float32], error)

	expecting sync.Mutex   // of expected
	expected  *expectation // of the last version that was asked for

	mu      sync.Mutex // of what follows; it is held for no request but a change that is written
	history            // replaced by a changed copy
	version int        // counts the changes
	photo   []float32  // features of the last photograph
}

// history is the descriptions, and those before each change since the start, see descriptions.Table.Clone.
type history struct {
	d    *descriptions.Table
	undo []*descriptions.Table
}

// readOnly begins the reason why nothing is written.
const readOnly = "Read-only: nothing is saved."

// New reads the descriptions of a data set and the classes of its samples.
func New(ctx context.Context, c Page) (s *Server, err error) {
	s = &Server{
		Page: c, token: rand.Text(), work: make(chan struct{}, 1), unlock: func() error { return nil },
	}
	s.x = sync.OnceValues(func() (dataset.Matrix[float32], error) {
		return features.ReadAll(ctx, openlayout.FeaturesPath(c.Dir))
	})
	switch d := c.Data; {
	case d != nil:
		if s.readOnly = readOnly; !c.ReadOnly && d.Source != glyphs.Source { // of which there are no files
			s.readOnly += " The descriptions are not CSV files: lago-train docs xlsa17 has the lines of " +
				"Python that write them as such."
		}
		s.d, s.pictures = descriptions.TableOf(d), d
		s.x = func() (dataset.Matrix[float32], error) { return d.Features, nil }
		for _, z := range d.Labels {
			s.labels = append(s.labels, d.Classes[z])
		}
	case c.ReadOnly:
		s.readOnly = readOnly
	default:
		unlock, err := descriptions.Lock(c.Dir)
		if err != nil {
			s.readOnly = readOnly + " " + err.Error()
			break
		}
		s.unlock = unlock
	}
	if c.Data == nil {
		if s.d, err = openlayout.ReadDescriptions(ctx, c.Dir); err == nil {
			s.labels, s.pictures, err = openlayout.ReadSamples(ctx, c.Dir)
		}
		if err != nil {
			return nil, errors.Join(err, s.unlock())
		}
	}
	if c.Model != nil {
		_, err = c.Model.LAGO()
		if known := len(s.d.Attributes) - len(s.unknown(s.d)); err == nil && known == 0 &&
			len(s.d.Attributes) > 0 {
			err = &invalid.Error{
				Field: "model", Want: "a model of the attributes of " + c.Name,
				Got: fmt.Sprintf("one trained on %s, with none of them", c.Model.Dataset),
			}
		}
		if err != nil {
			return nil, errors.Join(err, s.unlock())
		}
	}
	return s, nil
}

// WhyReadOnly says why the page writes nothing, "" if it does.
func (s *Server) WhyReadOnly() string { return s.readOnly }

// Serve listens on a port of 127.0.0.1, any free one if it is 0, calls ready with the address of the
// page, and serves until the context ends.
func (s *Server) Serve(ctx context.Context, port int, ready func(address string) error) (err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return &invalid.Error{
			Field: "port", Want: "a free port of 127.0.0.1",
			Got: fmt.Sprintf("%d (%v)", port, errors.Unwrap(errors.Unwrap(err))), Err: err,
			Hint: "Without it, the program chooses one.",
		}
	}
	defer func() { err = errors.Join(err, s.unlock()) }()
	server := &http.Server{
		// a request that waited too long is answered, too
		Handler: s.Handler(), ReadHeaderTimeout: timeToRead, ReadTimeout: timeToRead,
		WriteTimeout: timeToRead + timeToAnswer + timeToStop,
		IdleTimeout:  2 * time.Minute,
		ErrorLog:     log.New(logrus.StandardLogger().WriterLevel(logrus.DebugLevel), "", 0),
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	if err = ready("http://" + l.Addr().String() + "/" + s.token + "/"); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err = <-done:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeToStop)
	defer cancel()
	_ = server.Shutdown(stop) // changes are written before they are answered
	return nil
}

//go:embed page.html page.js page.css
var files embed.FS

var page = template.Must(template.ParseFS(files, "page.html"))

// policy lets the page load its own files and show pictures, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler answers the requests of the page, whose paths begin with the token.
func (s *Server) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = page.Execute(w, s.Name) // the browser is gone
	})
	for name, kind := range map[string]string{"page.js": "text/javascript", "page.css": "text/css"} {
		m.HandleFunc("GET /"+name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind+"; charset=utf-8")
			content, _ := files.ReadFile(name) // embedded
			_, _ = w.Write(content)
		})
	}
	m.HandleFunc("GET /thumbnail/{row}", s.thumbnail)
	// No lock is held while a request is read or answered: the browser may be slow.
	handle := func(pattern string, most int64, answer func(r *http.Request, body []byte) (any, error)) {
		m.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			var v any
			body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, most))
			if err == nil {
				v, err = answer(r, body)
			}
			write(w, v, err)
		})
	}
	handle("GET /state", 0, func(*http.Request, []byte) (any, error) { return s.state(), nil })
	handle("GET /check", 0, s.check)
	handle("GET /expect", 0, s.expect)
	handle("POST /edit", maxRequest, s.edit)
	handle("POST /undo", maxRequest, s.undoEdit)
	handle("POST /predict", maxRequest, s.predict)
	handle("POST /photograph", maxPhotograph, s.photograph)
	return s.guard(m)
}

func (s *Server) busy(ctx context.Context) (done func(), err error) {
	select {
	case s.work <- struct{}{}:
		return func() { <-s.work }, nil
	case <-ctx.Done():
		return nil, &refusal{http.StatusServiceUnavailable, "lago-train serve is busy. Try again."}
	}
}

type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		token, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		host, origin := (&url.URL{Host: r.Host}).Hostname(), r.Header.Get("Origin")
		ctx, cancel := context.WithTimeout(r.Context(), timeToAnswer)
		defer cancel()
		switch {
		case host != "127.0.0.1" && host != "localhost": // of any port, which ssh -L may change
			write(w, nil, &refusal{
				http.StatusMisdirectedRequest, "This page answers only at 127.0.0.1 and localhost.",
			})
		case !ok || subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1:
			write(w, nil, &refusal{
				http.StatusNotFound, "The address is not the one that lago-train serve printed.",
			})
		case origin != "" && origin != "http://"+r.Host, origin == "" && r.Method != http.MethodGet &&
			r.Method != http.MethodHead:
			write(w, nil, &refusal{http.StatusForbidden, "The request comes from another page."})
		default:
			r.URL.Path, r.URL.RawPath = "/"+rest, ""
			next.ServeHTTP(w, r.WithContext(ctx))
		}
	})
}

func write(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		status, tooLarge := http.StatusBadRequest, (*http.MaxBytesError)(nil)
		if r := (*refusal)(nil); errors.As(err, &r) {
			status = r.status
		}
		if errors.Is(err, descriptions.ErrChanged) {
			status = http.StatusConflict
		}
		text := err.Error()
		if errors.As(err, &tooLarge) {
			status, text = http.StatusRequestEntityTooLarge, fmt.Sprintf("photograph or request: expected "+
				"at most %d MB, found more", tooLarge.Limit>>20)
		}
		w.WriteHeader(status)
		v = map[string]string{"error": text}
	}
	_ = json.NewEncoder(w).Encode(v) // the browser is gone
}

func read[T any](body []byte) (v T, err error) {
	err = fileio.Unmarshal(body, &v)
	if isNull := string(bytes.TrimSpace(body)) == "null"; err == nil && !isNull { // which every type takes
		return v, nil
	}
	found, bad := "another value", (*invalid.Error)(nil)
	if errors.As(err, &bad) {
		found = bad.Got
	}
	return v, &invalid.Error{Where: "request", Want: "JSON as the page sends it", Got: found}
}

func (s *Server) thumbnail(w http.ResponseWriter, r *http.Request) {
	row, err := strconv.Atoi(r.PathValue("row"))
	var m image.Image
	if known := err == nil && row >= 0 && row < len(s.labels); known {
		var done func()
		if done, err = s.busy(r.Context()); err == nil {
			side := thumbnailSide
			if r.URL.Query().Has("large") {
				side = largeSide
			}
			m, err = catalog.Picture(r.Context(), s.pictures, row, side)
			done()
		}
	}
	switch {
	case m != nil && err == nil:
		w.Header().Set("Content-Type", "image/jpeg")
		w.Header().Set("Cache-Control", "private, max-age=3600")
		_ = jpeg.Encode(w, m, nil) // the browser is gone
	case errors.As(err, new(*refusal)):
		write(w, nil, err)
	case err != nil && !errors.Is(err, strconv.ErrSyntax):
		write(w, nil, &refusal{http.StatusNotFound, err.Error()})
	default:
		write(w, nil, &refusal{http.StatusNotFound, "The sample has no photograph."})
	}
}
