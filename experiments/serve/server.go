package serve

import (
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
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/predictor"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Config says what is served.
type Config struct {
	Name     string           // of the data set
	Dir      string           // its folder, in the open layout
	Data     *dataset.Dataset // in place of Dir, a data set of another layout: it is only read
	ReadOnly bool
	Model    *predictor.Model // to predict with; nil for none
	// Features computes the features of the content of a photograph; nil without a network.
	Features func(ctx context.Context, name string, content []byte) ([]float32, error)
}

// The limits of requests.
const (
	maxPhotograph = 20 << 20 // bytes
	maxRequest    = 4 << 20
	thumbnailSide = 160
	timeToRead    = 30 * time.Second
	timeToStop    = 2 * time.Second
)

// Server serves the page.
type Server struct {
	Config
	token string
	host  string // that requests must name, with its port

	labels   []string         // class of each sample
	pictures *dataset.Dataset // only its ids and photographs
	x        func() (dataset.Matrix[float32], error)

	mu      sync.Mutex
	d       *descriptions.Table
	undo    *descriptions.Table // before the last change; nil if there is none
	version int                 // counts the changes
	photo   []float32           // features of the last photograph
	names   string              // of it
}

// New reads the descriptions of a data set and the classes of its samples.
func New(ctx context.Context, c Config) (s *Server, err error) {
	s = &Server{Config: c, token: rand.Text()}
	s.x = sync.OnceValues(func() (dataset.Matrix[float32], error) { return features.ReadAll(ctx, openlayout.FeaturesPath(c.Dir)) })
	if d := c.Data; d != nil {
		s.d, s.pictures, s.ReadOnly = descriptions.Of(d), d, true
		s.x = func() (dataset.Matrix[float32], error) { return d.Features, nil }
		for _, z := range d.Labels {
			s.labels = append(s.labels, d.Classes[z])
		}
	} else if s.d, err = openlayout.ReadDescriptions(ctx, c.Dir); err != nil {
		return nil, err
	} else if s.labels, s.pictures, err = openlayout.ReadSamples(ctx, c.Dir); err != nil {
		return nil, err
	}
	if c.Model != nil {
		if _, err := c.Model.LAGO(); err != nil {
			return nil, err
		}
		if known := len(s.d.Attributes) - len(s.unknown()); known == 0 && len(s.d.Attributes) > 0 {
			return nil, &invalid.Error{
				Field: "model", Want: "a model of the attributes of " + c.Name, Got: fmt.Sprintf("one trained on %s, with none of them", c.Model.Dataset),
			}
		}
	}
	return s, nil
}

// Serve listens on a port of 127.0.0.1, any free one if it is 0, calls ready with the address of the
// page, and serves until the context ends.
func (s *Server) Serve(ctx context.Context, port int, ready func(address string) error) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return &invalid.Error{Field: "port", Want: "a free port of 127.0.0.1", Got: strconv.Itoa(port), Err: errors.Unwrap(errors.Unwrap(err)), Hint: "Without it, the program chooses one."}
	}
	s.host = l.Addr().String()
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: timeToRead, ReadTimeout: timeToRead, IdleTimeout: 2 * time.Minute}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	if err = ready("http://" + s.host + "/" + s.token + "/"); err != nil {
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
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

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
	handle := func(pattern string, answer func(r *http.Request) (any, error)) {
		m.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			v, err := answer(r)
			write(w, v, err)
		})
	}
	handle("GET /state", func(*http.Request) (any, error) { return s.state(), nil })
	handle("GET /check", func(*http.Request) (any, error) { return s.check(), nil })
	handle("POST /edit", s.edit)
	handle("POST /undo", s.undoEdit)
	handle("POST /predict", s.predict)
	m.HandleFunc("POST /photograph", func(w http.ResponseWriter, r *http.Request) {
		v, err := s.photograph(r)
		write(w, v, err)
	})
	return s.guard(m)
}

// refusal is an error with its HTTP status.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// guard lets requests of the page itself pass, without the token.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		token, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		_, port, _ := net.SplitHostPort(s.host)
		origin := r.Header.Get("Origin")
		switch {
		case r.Host != s.host && r.Host != "localhost:"+port:
			write(w, nil, &refusal{http.StatusMisdirectedRequest, "This page answers only at " + s.host + "."})
		case !ok || subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1:
			write(w, nil, &refusal{http.StatusNotFound, "The address is not the one that lago-train serve printed."})
		case origin != "" && origin != "http://"+r.Host, origin == "" && r.Method != http.MethodGet && r.Method != http.MethodHead:
			write(w, nil, &refusal{http.StatusForbidden, "The request comes from another page."})
		default:
			r.URL.Path, r.URL.RawPath = "/"+rest, ""
			next.ServeHTTP(w, r)
		}
	})
}

// write writes a value or an error as JSON.
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
			status, text = http.StatusRequestEntityTooLarge, fmt.Sprintf("expected at most %d MB, found more", tooLarge.Limit>>20)
		}
		w.WriteHeader(status)
		v = map[string]string{"error": text}
	}
	_ = json.NewEncoder(w).Encode(v) // the browser is gone
}

// read reads the JSON of a request.
func read[T any](r *http.Request) (v T, err error) {
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxRequest))
	d.DisallowUnknownFields()
	if err = d.Decode(&v); err != nil && !errors.As(err, new(*http.MaxBytesError)) {
		found, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			found = strings.TrimSpace(wrong.Value + " " + wrong.Field)
		} else if !unknown {
			found = "a syntax error"
		}
		err = &invalid.Error{Where: "request", Want: "JSON as the page sends it", Got: found}
	}
	return v, err
}

// thumbnail sends the picture of a sample.
func (s *Server) thumbnail(w http.ResponseWriter, r *http.Request) {
	row, err := strconv.Atoi(r.PathValue("row"))
	var m image.Image
	known := err == nil && row >= 0 && row < len(s.labels)
	if known {
		m, err = catalog.Picture(r.Context(), s.pictures, row, thumbnailSide)
	}
	if !known || err == nil && m == nil {
		write(w, nil, &refusal{http.StatusNotFound, "The sample has no photograph."})
		return
	}
	if err != nil {
		write(w, nil, &refusal{http.StatusNotFound, err.Error()})
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	w.Header().Set("Cache-Control", "private, max-age=3600")
	_ = jpeg.Encode(w, m, nil) // the browser is gone
}
