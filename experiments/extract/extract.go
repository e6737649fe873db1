// Package extract computes the features of photographs with a network: of a folder of
// photographs as a data set in the open layout, and of single photographs to predict and
// explain them.
//
// Memory does not grow with the number of photographs. A data set is extracted in parts, which
// shards share and which an interrupted extraction keeps: it resumes, and ends with the same bits.
// Packages dataset/images, model/network/resnet and model/network/vit have the preprocessing and the networks.
package extract

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
	"github.com/lago-train/lago-train/internal/numeric"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/table"
)

// Config configures the extraction of a data set.
type Config struct {
	Dir        string // of the data set; created if needed
	ImageDir   string // that the names of the images are relative to
	Images     []images.Image
	SkipBroken bool                  // leave out images that cannot be decoded
	Shard      lab.Shard             // of the images, in parts
	OnProgress func(format.Progress) // nil ignores it
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
	skipHint    = "--skip-broken leaves such images out."
	// partImages is the number of images of a part, a multiple of maxBatch: what a killed
	// process may have to do again.
	partImages = 2 * maxBatch
	manyImages = 10_000 // reading them takes long enough to say so
)

// work is one call of Extract.
type work struct {
	Config
	*Extractor
	dir   string           // of the files of the parts
	parts [][]images.Image // that are extracted and stored together
}

// Extract computes the features of images and writes them as a data set, without the
// descriptions of its classes. What an interrupted call or another shard has done is used;
// a finished data set is left as it is.
func Extract(ctx context.Context, e *Extractor, c Config) (r *Result, err error) {
	w := &work{c, e, filepath.Join(c.Dir, partsDir), slices.Collect(slices.Chunk(c.Images, partImages))}
	lock, err := w.lock(ctx, c.Shard.Count > 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	record, classes, err := w.record(ctx)
	if err != nil {
		return nil, err
	}
	r = &Result{
		Name: strings.ToLower(filepath.Base(c.Dir)), Dir: c.Dir, Architecture: record.Architecture, Weights: record.WeightsSHA256,
		Images: len(c.Images), Classes: classes, Dimensions: e.dims, Samples: len(c.Images), Skipped: []Skipped{},
	}
	finished, err := w.open(ctx, record)
	if err != nil {
		return nil, err
	}
	if !finished {
		if err := w.run(ctx); err != nil {
			return nil, err
		}
		for part, list := range w.parts {
			if !w.isDone(part) {
				r.Left += len(list)
			}
		}
		if r.Left > 0 {
			return r, nil
		}
		// No other shard may be at work, as on parts that are done already.
		if err := lock.Unlock(); err != nil {
			return nil, err
		}
		alone, err := w.lock(ctx, false)
		if err != nil {
			return nil, err
		}
		lock = alone
		if err := w.assemble(ctx, record); err != nil {
			return nil, err
		}
	}
	r.Skipped, err = readSkipped(filepath.Join(c.Dir, skippedFile))
	r.Samples -= len(r.Skipped)
	return r, err
}

// open prepares the folder. It reports whether the data set is finished already, and
// returns an error if the folder has another one.
func (w *work) open(ctx context.Context, record *openlayout.Extraction) (finished bool, err error) {
	if err := os.MkdirAll(w.Dir, 0o777); err != nil {
		return false, invalid.File(w.Dir, err)
	}
	hints := []string{"Choose another name for this one.", "Remove this folder to start again."}
	for i, dir := range []string{w.Dir, w.dir} {
		there, err := openlayout.ReadExtraction(ctx, dir)
		if err != nil {
			return false, err
		}
		if there != nil {
			return dir == w.Dir, same(there, record, dir, hints[i])
		}
	}
	for _, name := range openlayout.SampleFiles() {
		if _, err := os.Lstat(filepath.Join(w.Dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return false, &invalid.Error{Where: w.Dir, Want: "a folder without samples", Got: name, Hint: "Choose another name for the data set."}
		}
	}
	if err := os.MkdirAll(w.dir, 0o777); err != nil {
		return false, invalid.File(w.dir, err)
	}
	return false, openlayout.WriteExtraction(w.dir, record)
}

// run computes the parts of the shard that are missing.
func (w *work) run(ctx context.Context) error {
	var todo []int
	var list []images.Image
	total := 0
	for part, of := range w.parts {
		if !w.Shard.Holds(part) {
			continue
		}
		total += len(of)
		if !w.isDone(part) {
			todo, list = append(todo, part), append(list, of...)
		}
	}
	p := format.NewProgress("extracting", "images", int64(total-len(list)), int64(total))
	var x []float32
	var reasons []string
	err := w.each(ctx, list, func(row []float32, err error) error {
		reason := ""
		if err != nil {
			// An error of the system, such as too many open files, is not one of the image.
			if !errors.As(err, new(*invalid.Error)) || errors.As(err, new(syscall.Errno)) {
				return err
			}
			if !w.SkipBroken {
				return &invalid.Error{Err: err, Hint: skipHint}
			}
			reason = err.Error()
			clear(row)
		}
		x, reasons = append(x, row...), append(reasons, reason)
		if len(reasons) == len(w.parts[todo[0]]) {
			if err := w.writePart(todo[0], x, reasons); err != nil {
				return err
			}
			todo, x, reasons = todo[1:], x[:0], reasons[:0]
		}
		tick(&p, w.OnProgress)
		return nil
	})
	if err != nil && ctx.Err() != nil {
		return &interrupted{err, fmt.Sprintf("interrupted after %d of %s. The same command resumes.", p.Done, format.Count(total, "image"))}
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

// partFile returns the file of a part: the features of its images, and for each of them why
// it is broken, empty if it is not. The features of broken ones are 0.
func (w *work) partFile(part int) string {
	return filepath.Join(w.dir, fmt.Sprintf("%06d.safetensors", part))
}

func (w *work) isDone(part int) bool {
	_, err := os.Stat(w.partFile(part))
	return err == nil
}

func (w *work) writePart(part int, x []float32, reasons []string) error {
	text, err := json.Marshal(reasons)
	if err != nil {
		return err
	}
	t := safetensors.Tensor{Name: "features", Shape: []int{len(reasons), w.dims}, F32: x}
	return fileio.Write(w.partFile(part), func(to io.Writer) error {
		return safetensors.Write(to, []safetensors.Tensor{t}, map[string]string{"reasons": string(text)})
	})
}

// stored calls do with each image, its features, and why it is broken, "" if it is not.
func (w *work) stored(do func(m images.Image, x []float32, broken string) error) error {
	d := w.dims
	for part, list := range w.parts {
		f, err := safetensors.ReadFile(w.partFile(part))
		if err != nil {
			return err
		}
		var reasons []string
		t, _ := f.Tensor("features")
		err = json.Unmarshal([]byte(f.Metadata["reasons"]), &reasons)
		if err != nil || !f.Checksummed || len(reasons) != len(list) || len(t.F32) != len(list)*d {
			return &invalid.Error{Where: w.partFile(part), Want: "the features of " + format.Count(len(list), "image"), Hint: "The file is damaged: remove it."}
		}
		for i, m := range list {
			if err := do(m, t.F32[i*d:(i+1)*d], reasons[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// assemble writes the files of the data set from the parts, and removes these. The caller has the
// data set for itself.
func (w *work) assemble(ctx context.Context, record *openlayout.Extraction) (err error) {
	if done, err := openlayout.ReadExtraction(ctx, w.Dir); done != nil || err != nil {
		return err // another shard has done it in the meantime
	}
	var paths, classes []string
	skipped := [][]string{{"path", "reason"}}
	if err := w.stored(func(m images.Image, _ []float32, broken string) error {
		switch {
		case broken != "" && !w.SkipBroken:
			return &invalid.Error{Err: errors.New(broken), Hint: skipHint}
		case broken != "":
			skipped = append(skipped, []string{m.ID, broken})
			return nil
		case m.Class != "":
			classes = append(classes, m.Class)
		}
		paths = append(paths, m.ID)
		return nil
	}); err != nil {
		return err
	}
	if broken := len(skipped) - 1; broken > 0 {
		if len(paths) == 0 {
			return &invalid.Error{Where: w.ImageDir, Want: "at least one image that can be decoded", Got: fmt.Sprintf("%d broken ones", broken)}
		}
		if err := fileio.WriteCSV(filepath.Join(w.Dir, skippedFile), skipped); err != nil {
			return err
		}
	}
	if err := fileio.Write(filepath.Join(w.Dir, openlayout.FeaturesFile), func(to io.Writer) error {
		if err := npy.WriteHeader(to, len(paths), w.dims); err != nil {
			return err
		}
		return w.stored(func(_ images.Image, x []float32, broken string) error {
			if broken != "" {
				return nil
			}
			return numeric.Write(to, x)
		})
	}); err != nil {
		return err
	}
	if err := openlayout.WriteSamples(w.Dir, paths, classes); err != nil {
		return err
	}
	// The last file: with it the data set is finished.
	if err := openlayout.WriteExtraction(w.Dir, record); err != nil {
		return err
	}
	return invalid.File(w.dir, os.RemoveAll(w.dir))
}

// readSkipped reads skipped.csv; none if there is no such file.
func readSkipped(path string) ([]Skipped, error) {
	list := []Skipped{}
	text, err := fileio.ReadRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	rows, wrong := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err = cmp.Or(err, wrong); err != nil || len(rows) < 1 || len(rows[0]) != 2 {
		return nil, &invalid.Error{Where: path, Want: "a table of paths and reasons", Err: err}
	}
	for _, row := range rows[1:] {
		list = append(list, Skipped{row[0], row[1]})
	}
	return list, nil
}

// Tables say what was written, and the next step.
func (r *Result) Tables() []*table.Table {
	t := table.New("")
	if r.Left > 0 {
		return []*table.Table{t.Note("%s: %d of %s are left for other shards; the last one writes the data set", r.Name, r.Left, format.Count(r.Images, "image"))}
	}
	of, next := "", "predict --features "+filepath.Join(r.Dir, openlayout.FeaturesFile)
	if r.Classes > 0 {
		of = " of " + format.Count(r.Classes, "class")
		next = "dataset describe " + r.Name + " writes the files that describe the classes"
	}
	t.Note("%s: %s%s, %s each, in %s", r.Name, format.Count(r.Samples, "sample"), of, format.Count(r.Dimensions, "feature"), r.Dir)
	t.Note("network: %s, SHA-256 of the weights %s", r.Architecture, r.Weights)
	if n := len(r.Skipped); n > 0 {
		t.Note("left out: %s, listed in %s", format.Count(n, "broken image"), skippedFile)
	}
	return []*table.Table{t.Note("next: %s", next)}
}
