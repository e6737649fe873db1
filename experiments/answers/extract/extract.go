// Package extract computes the features of photographs with a network: of a folder of photographs as a data
// set in the open layout, and of single photographs to predict and explain them.
//
// Memory does not grow with the number of photographs. A data set is extracted in parts, which shards share
// and which an interrupted extraction keeps: it resumes, and ends with the same bits. Packages
// dataset/images, model/network/resnet and model/network/vit have the preprocessing and the networks.
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

	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/table"
)

// Photographs are images, and the data set that their features become.
type Photographs struct {
	Dir        string // of the data set; created if needed
	ImageDir   string // that the names of the images are relative to
	Images     []images.Image
	SkipBroken bool                  // leave out images that cannot be decoded
	Replace    bool                  // a data set that is there, although none of its samples or classes stay
	Shard      lab.Shard             // of the images, in parts
	OnProgress func(format.Progress) // nil ignores it
}

// Extracted describes the data set, or what is left of it. Its JSON keys are stable.
type Extracted struct {
	Name         string `json:"name"`
	Dir          string `json:"dir"`
	Architecture string `json:"architecture"`
	Weights      string `json:"weights_sha256"`
	Images       int    `json:"images"`
	Samples      int    `json:"samples"` // images that are not left out
	Classes      int    `json:"classes"`
	Dimensions   int    `json:"dimensions"`
	// samples of an earlier extraction in the folder whose images are the same
	Kept    int       `json:"kept"`
	Dropped int       `json:"dropped"` // samples of it whose images are gone
	Skipped []Skipped `json:"skipped"` // broken images
	// images of other shards, not yet done; above 0 there is no data set yet
	Left int `json:"left"`

	Next string `json:"-"` // command to type next
}

// Skipped is an image that was left out.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

const (
	partsDir    = ".extract"    // in the folder of the data set, while it is unfinished
	newDir      = "data"        // in partsDir: the data set, before its files replace those in the folder
	skippedFile = "skipped.csv" // path,reason
	skipHint    = "--skip-broken leaves such images out."
	// partImages is the number of images of a part, a multiple of maxBatch: what a killed
	// process may have to do again.
	partImages = 2 * maxBatch
)

type work struct {
	Photographs
	*Extractor
	dir     string                  // of the files of the parts
	sums    []string                // of the images
	earlier *openlayout.ImageTables // of the data set that is there, nil if there is none
	samples []sample                // in the order of the data set
	parts   [][]images.Image        // that are extracted and stored together
}

// sample is an image, and the line of the sample in the earlier data set, 0 if it is new there.
type sample struct {
	image, line int
	kept        bool // its features
}

// Extract computes the features of images and writes them as a data set, without the descriptions of its
// classes. What an interrupted call or another shard has done is used. Of a finished data set the features of
// images that are still the same are kept, as are the order of its samples and its other tables.
func Extract(ctx context.Context, e *Extractor, c Photographs) (r *Extracted, err error) {
	w := &work{Photographs: c, Extractor: e, dir: filepath.Join(c.Dir, partsDir)}
	lock, err := w.lock(ctx, c.Shard.Count > 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	record, classes, err := w.record(ctx)
	if err != nil {
		return nil, err
	}
	r = &Extracted{
		Name: strings.ToLower(filepath.Base(c.Dir)), Dir: c.Dir, Architecture: record.Architecture,
		Weights: record.WeightsSHA256,
		Images:  len(c.Images), Classes: classes, Dimensions: e.dims, Samples: len(c.Images),
		Skipped: []Skipped{},
	}
	finished, err := w.open(ctx, record)
	if err != nil {
		return nil, err
	}
	for _, s := range w.samples {
		if s.kept {
			r.Kept++
		}
		if s.line > 0 {
			r.Dropped--
		}
	}
	if w.earlier != nil {
		r.Dropped += len(w.earlier.Images) - 1
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

// open prepares the folder, and finds out what is to do. It reports whether the data set is
// finished already, and returns an error if the folder has one of another network.
func (w *work) open(ctx context.Context, record *openlayout.Extraction) (finished bool, err error) {
	if err := os.MkdirAll(w.Dir, 0o777); err != nil {
		return false, invalid.Folder(w.Dir, "a folder", err)
	}
	if err := w.install(); err != nil { // what an interrupted call assembled
		return false, err
	}
	there, err := openlayout.ReadExtraction(ctx, w.Dir)
	if err != nil {
		return false, err
	}
	if there != nil {
		if err := differ(there, record, w.Dir, "Choose another name for this one."); err != nil {
			return false, err
		}
		if there.ImagesSHA256 == record.ImagesSHA256 {
			if there.ImageDir != record.ImageDir {
				err = openlayout.WriteExtraction(w.Dir, record)
			}
			return true, err
		}
		if w.earlier, err = openlayout.ReadImageTables(w.Dir); err != nil {
			return false, err
		}
	} else if err := w.isEmpty(); err != nil {
		return false, err
	}
	w.plan()
	if err := w.replaces(); err != nil {
		return false, err
	}
	partial, err := openlayout.ReadExtraction(ctx, w.dir)
	if err != nil || partial != nil {
		const hint = "Remove this folder to start again."
		if err == nil {
			err = differ(partial, record, w.dir, hint)
		}
		if err == nil && partial.ImagesSHA256 != record.ImagesSHA256 {
			err = &invalid.Error{
				Where: w.dir, Field: format.Count(partial.Images, "image"), Hint: hint,
				Want: "the names, classes and content that this extraction began with", Got: "others",
			}
		}
		return false, err
	}
	if err := os.MkdirAll(w.dir, 0o777); err != nil {
		return false, invalid.Folder(w.dir, "a folder", err)
	}
	return false, openlayout.WriteExtraction(w.dir, record)
}

func (w *work) isEmpty() error {
	for _, name := range openlayout.SampleFiles() {
		if _, err := os.Lstat(filepath.Join(w.Dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return &invalid.Error{
				Where: w.Dir, Want: "a folder without samples", Got: name,
				Hint: "Choose another name for the data set.",
			}
		}
	}
	return nil
}

// replaces returns an error if nothing would stay of what the data set has, unless it is to be replaced.
func (w *work) replaces() error {
	stays := func(s sample) bool { return s.line > 0 }
	if w.Replace || w.earlier == nil || slices.ContainsFunc(w.samples, stays) {
		return nil
	}
	return &invalid.Error{
		Where: w.Dir,
		Want:  "some of the " + format.Count(len(w.earlier.Images)-1, "image") + " that it has samples of",
		Got:   "none of them among " + format.Count(len(w.Images), "image"),
		Hint:  "Is --images or --list the right one? --replace replaces what is there.",
	}
}

func (w *work) plan() {
	index := map[string]int{}
	for i, m := range w.Images {
		index[m.ID] = i
	}
	if w.earlier != nil {
		for line, row := range w.earlier.Images[1:] {
			if i, ok := index[row[0]]; ok {
				w.samples = append(w.samples, sample{i, line + 1, row[1] == w.sums[i]})
				delete(index, row[0])
			}
		}
	}
	for i, m := range w.Images {
		if _, ok := index[m.ID]; ok {
			w.samples = append(w.samples, sample{image: i})
		}
	}
	var todo []images.Image
	for _, s := range w.samples {
		if !s.kept {
			todo = append(todo, w.Images[s.image])
		}
	}
	w.parts = slices.Collect(slices.Chunk(todo, partImages))
}

func (w *work) run(ctx context.Context) error {
	var todo []int
	var list []images.Image
	total := 0
	for part, chunk := range w.parts {
		if !w.Shard.Holds(part) {
			continue
		}
		total += len(chunk)
		if !w.isDone(part) {
			todo, list = append(todo, part), append(list, chunk...)
		}
	}
	p := format.NewProgress("extracting", "images", int64(total-len(list)), int64(total))
	var x []float32
	var reasons []string
	err := w.each(ctx, list, func(row []float32, err error) error {
		reason := ""
		if err != nil {
			if !isBroken(err) {
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
		return fmt.Errorf("interrupted after %d of %s; repeat the command to resume: %w", p.Done,
			format.Count(total, "image"), context.Cause(ctx))
	}
	return err
}

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
	text, _ := json.Marshal(reasons) // texts always are JSON
	t := safetensors.Tensor{Name: "features", Shape: []int{len(reasons), w.dims}, F32: x}
	return fileio.Write(w.partFile(part), func(to io.Writer) error {
		return safetensors.Write(to, []safetensors.Tensor{t}, map[string]string{"reasons": string(text)})
	})
}

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
func (r *Extracted) Tables() []*table.Table {
	t := table.New("")
	if r.Left > 0 {
		return []*table.Table{
			t.Note("%s: %d of %s are left for other shards; the last one writes the data set", r.Name, r.Left,
				format.Count(r.Images, "image")),
		}
	}
	if r.Kept+r.Dropped > 0 {
		t.Note("kept %s, computed %d, dropped %d whose images are gone", format.Count(r.Kept, "sample"),
			r.Samples-r.Kept, r.Dropped)
	}
	t.Note("%s: %s of %s, %s each, in %s", r.Name, format.Count(r.Samples, "sample"),
		format.Count(r.Classes, "class"), format.Count(r.Dimensions, "feature"), r.Dir)
	t.Note("network: %s, SHA-256 of the weights %s", r.Architecture, r.Weights)
	if n := len(r.Skipped); n > 0 {
		t.Note("left out: %s, listed in %s", format.Count(n, "broken image"), skippedFile)
	}
	return []*table.Table{t.Note("next: %s", r.Next)}
}
