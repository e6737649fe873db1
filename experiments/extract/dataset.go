package extract

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/version"
)

// Config configures the extraction of a data set.
type Config struct {
	Dir        string // of the data set; created if needed
	ImageDir   string // that the names of the images are relative to
	Images     []images.Image
	SkipBroken bool           // leave out images that cannot be decoded
	Shard      lab.Shard      // of the images, in parts
	OnProgress func(Progress) // nil ignores it
}

// Result describes the data set, or what is left of it. Its JSON keys are stable.
type Result struct {
	Name         string    `json:"name"`
	Dir          string    `json:"dir"`
	Architecture string    `json:"architecture"`
	Weights      string    `json:"weights_sha256"`
	Images       int       `json:"images"`
	Samples      int       `json:"samples"` // images that are not left out
	Classes      int       `json:"classes"` // 0 if they are not known
	Dimensions   int       `json:"dimensions"`
	Skipped      []Skipped `json:"skipped"` // broken images
	Left         int       `json:"left"`    // images of other shards, not yet done; above 0 there is no data set yet
}

// Skipped is an image that was left out.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

const (
	partsDir    = ".extract"    // in the folder of the data set, while it is unfinished
	skippedFile = "skipped.csv" // path,reason
	// partImages is the number of images of a part, a multiple of maxBatch: what a killed
	// process may have to do again.
	partImages = 2 * maxBatch
)

// work is one call of Extract.
type work struct {
	Config
	*Extractor
	parts string // folder
	n     int    // number of parts
}

// Extract computes the features of images and writes them as a data set, without the
// descriptions of its classes. What an interrupted call or another shard has done is used;
// a finished data set is left as it is.
func Extract(ctx context.Context, e *Extractor, c Config) (*Result, error) {
	w := &work{Config: c, Extractor: e, parts: filepath.Join(c.Dir, partsDir), n: (len(c.Images) + partImages - 1) / partImages}
	record, err := w.record()
	if err != nil {
		return nil, err
	}
	finished, err := w.open(ctx, record)
	if err == nil && !finished {
		err = w.run(ctx)
	}
	if err != nil {
		return nil, err
	}
	r := &Result{
		Name: strings.ToLower(filepath.Base(c.Dir)), Dir: c.Dir, Architecture: record.Architecture, Weights: record.WeightsSHA256,
		Images: len(c.Images), Classes: len(w.classes()), Dimensions: e.network.Dims, Skipped: []Skipped{}, Samples: len(c.Images),
	}
	if !finished {
		if r.Left = w.left(); r.Left > 0 {
			return r, nil
		}
		if err := w.assemble(ctx, record); err != nil {
			return nil, err
		}
	}
	if r.Skipped, err = readSkipped(filepath.Join(c.Dir, skippedFile)); err != nil {
		return nil, err
	}
	r.Samples -= len(r.Skipped)
	return r, nil
}

// classes returns the different classes, none if they are not known.
func (w *work) classes() map[string]bool {
	set := make(map[string]bool)
	for _, m := range w.Images {
		if m.Class != "" {
			set[m.Class] = true
		}
	}
	return set
}

// record describes the extraction. Two that have the same record give the same features.
func (w *work) record() (*openlayout.Extraction, error) {
	sum := sha256.New()
	for _, m := range w.Images {
		size, err := input.SizeOfRegular(m.Path)
		if err != nil {
			return nil, err
		}
		line, err := json.Marshal([]any{m.ID, m.Class, size, m.Box})
		if err != nil {
			return nil, err
		}
		sum.Write(line)
	}
	info := blas.Current()
	return &openlayout.Extraction{
		Provenance: w.Provenance(), ImageDir: w.ImageDir, Images: len(w.Images), ImagesSHA256: hex.EncodeToString(sum.Sum(nil)),
		BLAS: strings.TrimSpace(info.Name + " " + info.Version), Versions: version.All(),
	}, nil
}

// open prepares the folder. It reports whether the data set is finished already, and
// returns an error if the folder has another one.
func (w *work) open(ctx context.Context, record *openlayout.Extraction) (finished bool, err error) {
	if err := os.MkdirAll(w.Dir, 0o777); err != nil {
		return false, invalid.File(w.Dir, err)
	}
	there, err := openlayout.ReadExtraction(ctx, w.Dir)
	if err != nil {
		return false, err
	}
	if there != nil {
		return true, same(there, record, w.Dir, "Choose another name for this one.")
	}
	if there, err = openlayout.ReadExtraction(ctx, w.parts); err != nil {
		return false, err
	}
	if there != nil {
		return false, same(there, record, w.parts, "Remove this folder to start again.")
	}
	for _, name := range openlayout.SampleFiles() {
		if _, err := os.Lstat(filepath.Join(w.Dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return false, &invalid.Error{Where: w.Dir, Want: "a folder without samples", Got: name, Hint: "Choose another name for the data set."}
		}
	}
	if err := os.MkdirAll(w.parts, 0o777); err != nil {
		return false, invalid.File(w.parts, err)
	}
	return false, openlayout.WriteExtraction(w.parts, record)
}

// same returns an error unless two extractions give the same features.
func same(there, now *openlayout.Extraction, dir, hint string) error {
	for _, f := range []struct {
		name       string
		there, now any
	}{
		{"images", there.Images, now.Images},
		{"names, classes, sizes or boxes of the images (SHA-256)", there.ImagesSHA256, now.ImagesSHA256},
		{"weights (SHA-256)", there.WeightsSHA256, now.WeightsSHA256},
		{"stride in the 1x1 convolution", there.StrideIn1x1, now.StrideIn1x1},
		{"preprocessing", there.Provenance.Images, now.Provenance.Images},
		{"matrix products", there.BLAS, now.BLAS},
	} {
		if f.there != f.now {
			return &invalid.Error{
				Where: dir, Field: f.name, Want: fmt.Sprintf("%v, as in the extraction in this folder", f.there), Got: fmt.Sprint(f.now), Hint: hint,
			}
		}
	}
	return nil
}

// run computes the parts of the shard that are missing.
func (w *work) run(ctx context.Context) error {
	var todo []int
	var list []images.Image
	total := 0
	for part := range w.n {
		if w.Shard.Holds(part) {
			total += len(w.imagesOf(part))
			if !w.isDone(part) {
				todo, list = append(todo, part), append(list, w.imagesOf(part)...)
			}
		}
	}
	c := newClock(total-len(list), total)
	var x []float32
	var broken []Skipped
	err := w.each(ctx, list, func(row []float32, err error) error {
		part := w.imagesOf(todo[0])
		if err != nil {
			// An error of the system, such as too many open files, is not one of the image.
			if e := (*invalid.Error)(nil); !errors.As(err, &e) || errors.As(err, new(syscall.Errno)) {
				return err
			} else if !w.SkipBroken {
				hinted := *e
				hinted.Hint = "--skip-broken leaves such images out."
				return &hinted
			}
			broken = append(broken, Skipped{part[len(x)/len(row)].ID, err.Error()})
			clear(row)
		}
		x = append(x, row...)
		if len(x) == len(part)*len(row) {
			if err := w.writePart(todo[0], x, broken); err != nil {
				return err
			}
			todo, x, broken = todo[1:], x[:0], nil
		}
		c.tick(w.OnProgress)
		return nil
	})
	if err != nil && ctx.Err() != nil {
		return &interrupted{err, fmt.Sprintf("interrupted after %d of %s. The same command resumes.", c.progress.Done, format.Count(total, "image"))}
	}
	return err
}

// interrupted is the error of an extraction that its context ended.
type interrupted struct {
	error
	text string
}

func (i *interrupted) Error() string { return i.text }
func (i *interrupted) Unwrap() error { return i.error }

// WriteText prints the result.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	if r.Left > 0 {
		fmt.Fprintf(&b, "%s: %d of %s are left for other shards; the last one writes the data set\n", r.Name, r.Left, format.Count(r.Images, "image"))
	} else {
		of := ""
		if r.Classes > 0 {
			of = " of " + format.Count(r.Classes, "class")
		}
		fmt.Fprintf(&b, "%s: %s%s, %s each, in %s\n", r.Name, format.Count(r.Samples, "sample"), of, format.Count(r.Dimensions, "feature"), r.Dir)
		fmt.Fprintf(&b, "network: %s, SHA-256 of the weights %s\n", r.Architecture, r.Weights)
	}
	if n := len(r.Skipped); n > 0 {
		fmt.Fprintf(&b, "left out: %s, listed in %s\n", format.Count(n, "broken image"), skippedFile)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
