package openlayout

import (
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Write writes d, in which check.Errors must have found none, as a folder that Load reads as
// the same data set, bit for bit, if names of a kind differ and none begins or ends with a
// space. d.Split is written as the first split of the classes, others, at most two, as the
// second and third. Files of the same names are replaced.
func Write(dir string, d *dataset.Dataset, others ...dataset.Split) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return invalid.File(dir, err)
	}
	if err := descriptions.Of(d).Write(dir); err != nil {
		return err
	}
	if err := writeColumns(filepath.Join(dir, labelsFile), labelColumns(d)...); err != nil {
		return err
	}
	if err := WriteSplits(filepath.Join(dir, SplitsFile), d.Classes, append([]dataset.Split{d.Split}, others...)...); err != nil {
		return err
	}
	if d.Provenance != nil {
		if err := WriteExtraction(dir, &Extraction{Provenance: *d.Provenance, ImageDir: d.ImageDir}); err != nil {
			return err
		}
	}
	return features.WriteNPY(filepath.Join(dir, FeaturesFile), d.Features)
}

// WriteExtraction writes extract.json in a folder.
func WriteExtraction(dir string, e *Extraction) error {
	return fileio.WriteJSON(filepath.Join(dir, extractFile), e)
}

// WriteSamples writes images.csv and, unless classes is nil, labels.csv, with a line for
// each sample.
func WriteSamples(dir string, paths, classes []string) error {
	err := writeColumns(filepath.Join(dir, imagesFile), column(pathColumn, paths))
	if err != nil || classes == nil {
		return err
	}
	return writeColumns(filepath.Join(dir, labelsFile), column(classColumn, classes))
}

// WriteSplits writes one to three splits of the classes in the form of splits.csv.
func WriteSplits(path string, classes []string, splits ...dataset.Split) error {
	columns := [][]string{column(classColumn, classes)}
	for n, split := range splits {
		part := column(partColumns[n], make([]string, len(classes)))
		for _, subset := range split.Subsets() {
			for _, z := range subset.Classes {
				part[1+z] = subset.Name
			}
		}
		columns = append(columns, part)
	}
	return writeColumns(path, columns...)
}

// writeColumns writes a table of columns, each of which begins with its name.
func writeColumns(path string, columns ...[]string) error {
	rows := make([][]string, len(columns[0]))
	for _, cells := range columns {
		for i, cell := range cells {
			rows[i] = append(rows[i], cell)
		}
	}
	return fileio.WriteCSV(path, rows)
}

// column returns a column with the given cells.
func column(name string, cells []string) []string { return append([]string{name}, cells...) }

// labelColumns has columns for ids and held-out samples only if there are some.
func labelColumns(d *dataset.Dataset) [][]string {
	classes, held := []string{classColumn}, []string{testSeenColumn}
	for _, z := range d.Labels {
		classes, held = append(classes, d.Classes[z]), append(held, "no")
	}
	for _, i := range d.TestSeen {
		held[1+i] = "yes"
	}
	columns := [][]string{classes}
	if d.IDs != nil {
		columns = append(columns, column(idColumn, d.IDs))
	}
	if len(d.TestSeen) > 0 {
		columns = append(columns, held)
	}
	return columns
}
