package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/answers/predictor/render"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/lago"
	"github.com/lago-train/lago-train/train/methods"
)

// The attributes of the data set and of the model, whose detectors read one feature each.
var attributes = []string{"colour::red", "colour::blue", "size::large", "size::small"}

func identity() *predictor.Model {
	c := model.Config{Variant: model.SemanticHard, Prior: model.Uniform, Complement: model.DeMorgan, Zeta: 1000}
	p := &model.Parameters[float32]{W: dataset.NewMatrix[float32](4, 4), B: make([]float32, 4), V: dataset.NewMatrix[float32](4, 2)}
	for m := range 4 {
		p.W.Row(m)[m], p.V.Row(m)[m/2] = 1, 1
	}
	semantic := []int{0, 0, 1, 1}
	return &predictor.Model{Saved: &train.Saved{
		Method: methods.Named{Name: methods.LAGO, Method: &lago.Settings{Config: c}}, Dataset: "things", Dims: 4,
		Pipeline:   &model.Pipeline{Transform: &preprocess.Transform{Chain: preprocess.None}, Classifier: lago.Model{LAGO: &model.LAGO{Config: c, Semantic: semantic, Params: p}}},
		Attributes: attributes, Groups: []string{"colour", "size"}, Semantic: semantic, Classes: []string{"old"}, Learned: []int{0},
		Descriptions: dataset.Matrix[float64]{Rows: 1, Cols: 4, Data: []float64{1, 0, 0, 1}},
	}}
}

// things writes a data set of three classes with a photograph of each; "old" is one that the model
// was trained on, and "bare" is not described.
func things(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	testkit.Write(t, dir, "labels.csv", "class\nold\nbig blue\nbare\n")
	testkit.Write(t, dir, "images.csv", "path\nold.jpg\nbig.jpg\nbare.jpg\n")
	testkit.Write(t, dir, "attributes.csv", "name,group\ncolour::red,colour\ncolour::blue,colour\nsize::large,size\nsize::small,size\n")
	testkit.Write(t, dir, "classes.csv", "class,colour::red,colour::blue,size::large,size::small\nold,yes,no,no,yes\nbig blue,no,yes,yes,no\n")
	x := dataset.Matrix[float32]{Rows: 3, Cols: 4, Data: []float32{3, -3, -3, 3, -3, 3, 3, -3, -3, 3, -3, 3}}
	testkit.NoError(t, tiny.WriteNPY(filepath.Join(dir, "features.npy"), x))
	testkit.NoError(t, openlayout.WriteExtraction(dir, &openlayout.Extraction{
		ImageDir: dir, Provenance: dataset.Provenance{WeightsSHA256: strings.Repeat("0", 64), Images: dataset.ImagePreprocessing{Size: 224, Fit: dataset.Crop}},
	}))
	for i, name := range []string{"old.jpg", "big.jpg", "bare.jpg"} {
		testkit.Write(t, dir, name, string(photograph(color.RGBA{R: uint8(100 * i), B: 200, A: 255})))
	}
	return dir
}

func photograph(c color.Color) []byte {
	m := image.NewRGBA(image.Rect(0, 0, 20, 10))
	for i := range 200 {
		m.Set(i%20, i/20, c)
	}
	var b bytes.Buffer
	_ = jpeg.Encode(&b, m, nil) // to memory
	return b.Bytes()
}

// started returns a server of things, with a network whose features are those of the colour.
func started(t testing.TB, c Page) *Server {
	t.Helper()
	c.Name = "things"
	if c.Dir == "" {
		c.Dir = things(t)
	}
	s := testkit.Must(New(t.Context(), c))(t)
	t.Cleanup(func() { _ = s.unlock() })
	return s
}

// network has the features of big blue for every photograph.
func network(context.Context, string, []byte) ([]float32, error) { return []float32{-3, 3, 3, -3}, nil }

// request asks the server as the page does, but for what change changes.
func request(s *Server, method, path string, body any, change func(r *http.Request)) *httptest.ResponseRecorder {
	text, ok := body.([]byte)
	if !ok && body != nil {
		text, _ = json.Marshal(body) // of this test
	}
	r := httptest.NewRequest(method, "http://127.0.0.1:1234/"+s.token+path, bytes.NewReader(text))
	if method != http.MethodGet {
		r.Header.Set("Origin", "http://127.0.0.1:1234")
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

func answered[T any](t testing.TB, w *httptest.ResponseRecorder) (v T) {
	t.Helper()
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	testkit.NoError(t, json.Unmarshal(w.Body.Bytes(), &v))
	return v
}

func TestRefusals(t *testing.T) {
	s := started(t, Page{Model: identity(), Features: network})
	testkit.Write(t, s.Dir, "splits.csv", "class,part\nkiwi,test\n")
	readOnly := started(t, Page{ReadOnly: true})
	edit := func(c map[string]any) map[string]any { return map[string]any{"changes": []any{c}} }
	cell := edit(map[string]any{"class": "bare", "cells": map[string]any{"colour::red": 1}})
	for name, c := range map[string]struct {
		s            *Server
		method, path string
		body         any
		change       func(r *http.Request)
		status       int
		text         string
	}{
		"another token":      {s, "GET", "/state", nil, func(r *http.Request) { r.URL.Path = "/" + strings.Repeat("A", len(s.token)) + "/state" }, 404, "is not the one"},
		"no token":           {s, "GET", "/state", nil, func(r *http.Request) { r.URL.Path = "/state" }, 404, "is not the one"},
		"another host":       {s, "GET", "/state", nil, func(r *http.Request) { r.Host = "evil.example:1234" }, 421, "answers only at"},
		"through ssh":        {s, "GET", "/state", nil, func(r *http.Request) { r.Host = "localhost:8000" }, 200, "big blue"},
		"another scheme":     {s, "POST", "/edit", cell, func(r *http.Request) { r.Header.Set("Origin", "https://127.0.0.1:1234") }, 403, "another page"},
		"another origin":     {s, "POST", "/edit", cell, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403, "another page"},
		"no origin":          {s, "POST", "/edit", cell, func(r *http.Request) { r.Header.Del("Origin") }, 403, "another page"},
		"reads from another": {s, "GET", "/state", nil, func(r *http.Request) { r.Header.Set("Origin", "null") }, 403, "another page"},
		"method":             {s, "GET", "/edit", nil, nil, 405, ""},
		"path":               {s, "GET", "/classes.csv", nil, nil, 404, ""},
		"above the page":     {s, "GET", "/thumbnail/../../../etc/passwd", nil, nil, 307, ""},
		"picture":            {s, "GET", "/thumbnail/3", nil, nil, 404, "no photograph"},
		"large photograph":   {s, "POST", "/photograph", make([]byte, maxPhotograph+1), nil, 413, "at most 20 MB"},
		"large change":       {s, "POST", "/edit", []byte(`{"class":"` + strings.Repeat("a", maxRequest) + `"}`), nil, 413, "at most 4 MB"},
		"no JSON":            {s, "POST", "/edit", []byte("{"), nil, 400, "as the page sends it, found another value"},
		"null":               {s, "POST", "/edit", []byte(" null"), nil, 400, "as the page sends it, found another value"},
		"unknown class":      {s, "POST", "/edit", edit(map[string]any{"class": "new"}), nil, 400, "one of the data set"},
		"two of one name":    {s, "POST", "/edit", map[string]any{"changes": []change{{Class: "emu", New: true}, {Class: "EMU", New: true}}}, nil, 400, "There is emu."},
		"two forms of one":   {s, "POST", "/edit", map[string]any{"changes": []change{{Class: "Jose\u0301", New: true}, {Class: "Jos\u00e9", New: true}}}, nil, 400, "a new name"},
		"name of another":    {s, "POST", "/edit", map[string]any{"changes": []any{map[string]any{"class": "emu", "new": true}, map[string]any{"class": "emu", "rename": "Old"}}}, nil, 400, "There is old."},
		"rename of samples":  {s, "POST", "/edit", edit(map[string]any{"class": "old", "rename": "new"}), nil, 409, "old has samples"},
		"class of a split":   {s, "POST", "/edit", map[string]any{"changes": []any{map[string]any{"class": "kiwi", "new": true}, map[string]any{"class": "kiwi", "delete": true}}}, nil, 409, "kiwi is in splits.csv"},
		"many changes":       {s, "POST", "/predict", map[string]any{"sample": 0, "change": make([]change, maxTried+1)}, nil, 400, "at most 1000 classes, found 1001"},
		"attribute":          {s, "POST", "/edit", edit(map[string]any{"class": "old", "cells": map[string]any{"green": 1}}), nil, 400, "attributes of the data set"},
		"probability":        {s, "POST", "/edit", edit(map[string]any{"class": "old", "cells": map[string]any{"colour::red": 2}}), nil, 400, "probabilities"},
		"no group":           {s, "POST", "/edit", edit(map[string]any{"attribute": map[string]any{"name": "round"}}), nil, 400, "for all attributes or none, group"},
		"old version":        {s, "POST", "/edit", map[string]any{"version": 7}, nil, 409, "another window"},
		"nothing to undo":    {s, "POST", "/undo", map[string]any{}, nil, 409, "nothing to undo"},
		"read only":          {readOnly, "POST", "/edit", cell, nil, 403, "Read-only: nothing is saved."},
		"no model":           {readOnly, "POST", "/predict", map[string]any{"sample": 0}, nil, 409, "--model latest"},
		"no network":         {readOnly, "POST", "/photograph", []byte("x"), nil, 409, "--weights"},
		"sample":             {s, "POST", "/predict", map[string]any{"sample": 3}, nil, 400, "the index of one of 3 samples, found 3"},
		"no sample":          {s, "POST", "/predict", map[string]any{}, nil, 400, "a sample or a photograph"},
		"one candidate":      {s, "POST", "/predict", map[string]any{"sample": 0, "unseen": true}, nil, 400, "at least two classes"},
	} {
		before := testkit.Read(t, filepath.Join(c.s.Dir, "classes.csv"))
		w := request(c.s, c.method, c.path, c.body, c.change)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.text) {
			t.Errorf("%s: %d %s, expected %d with %q", name, w.Code, w.Body, c.status, c.text)
		}
		testkit.Equal(t, name, testkit.Read(t, filepath.Join(c.s.Dir, "classes.csv")), before)
	}
}

// The page, its files and the pictures are allowed by the policy that they are sent with.
func TestPageFiles(t *testing.T) {
	s := started(t, Page{})
	for path, kind := range map[string]string{"/": "text/html", "/page.js": "text/javascript", "/page.css": "text/css", "/thumbnail/1": "image/jpeg", "/state": "application/json"} {
		w := request(s, "GET", path, nil, nil)
		h := w.Header()
		testkit.WantText(t, h.Get("Content-Type"), kind)
		testkit.Equal(t, path, []any{w.Code, w.Body.Len() > 0, h.Get("Content-Security-Policy"), h.Get("X-Content-Type-Options")}, []any{200, true, policy, "nosniff"})
	}
}

// Tabs that do not send their request or read their answer do not block others, and what they ask
// for ends in time.
func TestSlowTabs(t *testing.T) {
	s := started(t, Page{Model: identity()})
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	defer server.CloseClientConnections()
	for _, text := range []string{
		"POST /" + s.token + "/edit HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 100\r\n\r\n{",
		strings.Repeat("GET /"+s.token+"/state HTTP/1.1\r\nHost: localhost\r\n\r\n", 10_000),
	} {
		c := testkit.Must(net.Dial("tcp", server.Listener.Addr().String()))(t)
		defer func() { _ = c.Close() }()
		go func() { _, _ = io.WriteString(c, text) }()
	}
	time.Sleep(50 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r := testkit.Must(http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/"+s.token+"/state", nil))(t)
	answer := testkit.Must(http.DefaultClient.Do(r))(t)
	_ = answer.Body.Close()
	testkit.Equal(t, "status", answer.StatusCode, http.StatusOK)
	done := testkit.Must(s.busy(ctx))(t)
	defer done()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	w := request(s, "POST", "/predict", map[string]any{"sample": 1}, func(r *http.Request) { *r = *r.WithContext(ended) })
	testkit.Equal(t, "status while another prediction is computed", w.Code, http.StatusServiceUnavailable)
}

// Of changes at the same time each is saved or refused, and the file has those that were saved.
func TestConcurrentEdits(t *testing.T) {
	s := started(t, Page{})
	var wg sync.WaitGroup
	var saved atomic.Int32
	for i := range 20 {
		wg.Go(func() {
			for range 50 {
				v := answered[state](t, request(s, "GET", "/state", nil, nil))
				w := request(s, "POST", "/edit", edit{Version: v.Version, Changes: []change{{Class: fmt.Sprint("class", i), New: true}}}, nil)
				if w.Code == http.StatusOK {
					saved.Add(1)
					return
				}
			}
		})
	}
	wg.Wait()
	d := testkit.Must(openlayout.ReadDescriptions(t.Context(), s.Dir))(t)
	if n := int(saved.Load()); n == 0 || len(d.Classes) != 3+n {
		t.Errorf("%d classes in the file, expected 3 and the %d saved ones", len(d.Classes), n)
	}
}

// Predictions are those of package predictor, with the descriptions that are tried.
func TestPredict(t *testing.T) {
	m := identity()
	s := started(t, Page{Model: m, Features: network})
	ask := func(q map[string]any) answer { return answered[answer](t, request(s, "POST", "/predict", q, nil)) }
	nan := math.NaN()
	u := dataset.Matrix[float64]{Rows: 3, Cols: 4, Data: []float64{1, 0, 0, 1, 0, 1, 1, 0, 0.1, 1, nan, 1}}
	p := testkit.Must(m.Predictor(predictor.Candidates{Names: []string{"old", "big blue", "bare"}, U: u}, predictor.Options{}))(t)
	x := dataset.Matrix[float32]{Rows: 1, Cols: 4, Data: []float32{-3, 3, -3, 3}}
	want := testkit.Must(predictor.Explain(predictor.Question{Predictor: p, X: x}))(t)
	got := ask(map[string]any{"sample": 2, "change": []any{map[string]any{"class": "bare", "cells": map[string]any{"colour::red": 0.1, "colour::blue": 1, "size::small": 1}}}})
	testkit.Equal(t, "likely", got.Likely, want.Likely)
	testkit.Equal(t, "percentage", got.Percent[0], format.Percent(want.Likely[0].P))
	testkit.Equal(t, "log odds", got.LogOdds, want.Comparisons[0].LogOdds)
	testkit.Equal(t, "predicted and label", []string{got.Predicted, *got.Label}, []string{"bare", "bare"})
	testkit.WantText(t, got.Given, "75.0 % of the description of bare and 100.0 % of that of ")
	other := ask(map[string]any{"sample": 0, "unseen": true, "change": []any{map[string]any{"class": "bare", "cells": map[string]any{"colour::red": 1}}}})
	testkit.Equal(t, "candidates", []bool{got.Candidate, other.Candidate}, []bool{true, false})
	testkit.WantNoText(t, testkit.Read(t, filepath.Join(s.Dir, "classes.csv")), "bare") // it was tried alone
	answered[map[string]string](t, request(s, "POST", "/photograph?name=a.jpg", photograph(color.White), nil))
	a := ask(map[string]any{})
	testkit.Equal(t, "photograph", []any{a.Predicted, a.Classes, a.Bare, a.Label == nil}, []any{"big blue", 2, 1, true})
	s.photo = make([]float32, 4)
	testkit.Equal(t, "features of 0 alone", []bool{got.Zero, ask(map[string]any{}).Zero}, []bool{false, true})
	twin := map[string]any{"class": "twin", "new": true, "cells": map[string]any{"colour::blue": 1, "size::large": 1}}
	a = ask(map[string]any{"remove": []string{"big blue"}, "change": []any{twin}})
	testkit.Equal(t, "with a new class in place of the best one", []any{a.Predicted, a.Classes}, []any{"twin", 2})
}

// Where seen and unseen classes are candidates together, the page, explain and predict have the same
// probabilities, fit and parts of the log odds, with the correction.
func TestNumbersAgree(t *testing.T) {
	m := identity()
	m.Reference.Detections = dataset.Matrix[float32]{Rows: 2, Cols: 4, Data: []float32{0.9, 0.2, 0.1, 0.8, 0.4, 0.5, 0.6, 0.3}}
	fit := new(model.Fit)
	fit.Add(2, []float64{-4, -1, 0.5, 2})
	m.Decision = model.Decision{Kind: model.Subtract, Fit: fit, Mixed: &model.Scoring{Omega: 0.5, Calibration: &model.Calibration{Temperature: 2}}}
	s := started(t, Page{Model: m})
	today, _ := m.Described(testkit.Must(openlayout.ReadDescriptions(t.Context(), s.Dir))(t))
	p := testkit.Must(m.Predictor(m.SelectedCandidates(today, predictor.All), predictor.Options{}))(t)
	x := testkit.Must(s.x())(t)
	d := &dataset.Dataset{Features: x, Labels: make([]int, x.Rows), Classes: s.labels}
	predicted := testkit.Must(p.Predict(t.Context(), &predictor.Samples{Data: d, Rows: x.AllRows()}, predictor.Listing{Top: 1}))(t)
	for row, predicted := range predicted.Samples {
		page := answered[answer](t, request(s, "POST", "/predict", question{Sample: &row}, nil))
		r := testkit.Must(predictor.Explain(predictor.Question{Predictor: p, Sample: predictor.Sample{Label: &s.labels[row]}, X: x, Row: row}))(t)
		c := r.Comparisons[0]
		want := answer{
			Predicted: r.Predicted, Sentence: render.Sentence(&c, render.ShownGroups), Given: render.GivenSentence(&c), Fit: r.Fit, Fits: render.FitSentence(r.Fit), Against: c.Against,
			Label: &s.labels[row], Candidate: r.Label != nil, Classes: r.Classes, Bare: 1, Likely: r.Likely, Percent: page.Percent, LogOdds: c.LogOdds,
		}
		sum := 0.0
		for _, part := range render.Parts(&c, render.ShownGroups) {
			want.Groups = append(want.Groups, contribution{part.Name, part.Why(), part.LogOdds})
			sum += part.LogOdds
		}
		testkit.Equal(t, fmt.Sprint("sample ", row), page, want)
		testkit.Near(t, "sum of the parts", sum, page.LogOdds, 1e-9)
		testkit.NearAll(t, "predict", []float64{predicted.Best[0].Value, predicted.Fit}, []float64{page.Likely[0].P, *page.Fit}, 1e-6)
		var text strings.Builder
		testkit.NoError(t, render.Explanation(&text, render.Text, r, 1))
		testkit.WantText(t, text.String(), page.Fits)
	}
}

// The server ends when the context does, and refuses a port that is in use.
func TestServe(t *testing.T) {
	s := started(t, Page{})
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = l.Close() }()
	testkit.WantError(t, s.Serve(t.Context(), l.Addr().(*net.TCPAddr).Port, nil), "port: expected a free port", " (address already in use). Without it")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	testkit.NoError(t, s.Serve(ctx, 0, func(address string) error {
		if !strings.HasPrefix(address, "http://127.0.0.1:") || !strings.HasSuffix(address, "/"+s.token+"/") {
			t.Errorf("address %s", address)
		}
		r := testkit.Must(http.Get(address + "state"))(t)
		_ = r.Body.Close()
		testkit.Equal(t, "status", r.StatusCode, 200)
		cancel()
		return nil
	}))
}

// A data set of another layout is only read: its samples are predicted, and have pictures.
func TestServeOtherLayouts(t *testing.T) {
	u := dataset.Matrix[float64]{Rows: 2, Cols: 4, Data: []float64{1, 0, 0, 1, 0, 1, math.NaN(), 0}}
	d := &dataset.Dataset{
		Name: "letters", Source: glyphs.Source,
		Features: dataset.Matrix[float32]{Rows: 2, Cols: 4, Data: []float32{3, -3, -3, 3, -3, 3, 3, -3}}, Labels: []int{0, 1},
		Classes: []string{"old", "big blue"}, Groups: []string{"colour", "size"}, Descriptions: u,
	}
	for m, name := range attributes {
		d.Attributes = append(d.Attributes, dataset.Attribute{Name: name, Group: m / 2})
	}
	s := started(t, Page{Data: d, Model: identity()})
	v := answered[state](t, request(s, http.MethodGet, "/state", nil, nil))
	testkit.Equal(t, "values", v.Classes[1].Values, []*float64{new(0.0), new(1.0), nil, new(0.0)})
	testkit.Equal(t, "read only, pictures, group", []any{v.ReadOnly, v.Pictures, v.Attributes[2].Group}, []any{readOnly, true, "size"})
	testkit.Equal(t, "status of a picture", request(s, http.MethodGet, "/thumbnail/1", nil, nil).Code, http.StatusOK)
	row := 1
	a := answered[answer](t, request(s, http.MethodPost, "/predict", question{Sample: &row}, nil))
	testkit.Equal(t, "predicted", a.Predicted, "big blue")
	d.Source = "xlsa17"
	testkit.WantText(t, started(t, Page{Data: d}).WhyReadOnly(), readOnly+" The descriptions are not CSV files")
	testkit.Equal(t, "asked for", started(t, Page{Data: d, ReadOnly: true}).WhyReadOnly(), readOnly)
}

func TestNewRefuses(t *testing.T) {
	dir := things(t)
	testkit.NoError(t, os.Remove(filepath.Join(dir, "classes.csv")))
	testkit.Write(t, dir, "attributes.csv", "name,group\nround,shape\n")
	_, err := New(t.Context(), Page{Name: "things", Dir: dir, Model: identity()})
	testkit.WantError(t, err, "model: expected a model of the attributes of things")
}
