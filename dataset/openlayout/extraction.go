package openlayout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// extractFile is the name of the file of an Extraction.
const extractFile = "extract.json"

// Extraction is the content of extract.json: how the features were computed from images.
type Extraction struct {
	dataset.Provenance
	ImageDir     string `json:"image_dir,omitempty"`     // absolute
	Images       int    `json:"images,omitempty"`        // those left out included
	ImagesSHA256 string `json:"images_sha256,omitempty"` // of their names, classes, sizes and bounding boxes
	BLAS         string `json:"blas,omitempty"`

	Versions map[string]string `json:"versions,omitempty"` // of the program and its libraries
}

// WriteExtraction writes extract.json in a folder.
func WriteExtraction(dir string, e *Extraction) error {
	return atomicfile.WriteJSON(filepath.Join(dir, extractFile), e)
}

// WriteSamples writes images.csv and, unless classes is nil, labels.csv, with a line for
// each sample.
func WriteSamples(dir string, paths, classes []string) error {
	rows := [][]string{{pathColumn}}
	for _, path := range paths {
		rows = append(rows, []string{path})
	}
	if err := atomicfile.WriteCSV(filepath.Join(dir, imagesFile), rows); err != nil || classes == nil {
		return err
	}
	rows = [][]string{{classColumn}}
	for _, class := range classes {
		rows = append(rows, []string{class})
	}
	return atomicfile.WriteCSV(filepath.Join(dir, labelsFile), rows)
}

// maxExtraction is far above the size of extract.json in bytes.
const maxExtraction = 1 << 16

// ReadExtraction reads extract.json of a folder; nil if there is none.
func ReadExtraction(ctx context.Context, dir string) (*Extraction, error) {
	path := filepath.Join(dir, extractFile)
	text, err := input.ReadFile(ctx, path, maxExtraction)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e := new(Extraction)
	err = json.Unmarshal(text, e)
	if p := e.Provenance.Images; err != nil || len(e.WeightsSHA256) != 64 || p.Size < 1 || p.Fit != dataset.Crop && p.Fit != dataset.Squash {
		return nil, &invalid.Error{Where: path, Want: "the record that dataset extract writes", Got: "another file", Err: err}
	}
	return e, nil
}

// readImages reads the optional files of features that were computed from images.
func (r *reader) readImages(d *dataset.Dataset) {
	e, err := ReadExtraction(r.ctx, r.dir)
	r.problems.AddError(err)
	if e != nil {
		d.Provenance, d.ImageDir = &e.Provenance, e.ImageDir
	}
	if _, err := os.Stat(r.path(imagesFile)); errors.Is(err, fs.ErrNotExist) || d.IDs != nil {
		return
	}
	t := r.table(imagesFile)
	if t == nil || !t.Require(pathColumn) || !t.Allow(pathColumn) {
		return
	}
	d.IDs = t.Names(pathColumn)
	if d.Labels != nil && len(d.IDs) != len(d.Labels) {
		r.problems.AddError(&invalid.Error{
			Where: t.File, Want: fmt.Sprintf("%d lines, one for each of %s", len(d.Labels), labelsFile), Got: fmt.Sprint(len(d.IDs)),
		})
	}
}
