package openlayout

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Write writes d, which dataset.Check must have accepted, as a folder that Load reads as
// the same data set, bit for bit. d.Split is written as the first split of the classes,
// others, at most two, as the second and third. Files of the same names are replaced.
//
// Names that a table cannot hold, or that are not unique, are an *invalid.Error before
// anything is written.
func Write(dir string, d *dataset.Dataset, others ...dataset.Split) error {
	if err := writable(d); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return invalid.File(dir, err)
	}
	for name, rows := range map[string][][]string{
		attributesFile: attributeRows(d), classesFile: classRows(d), labelsFile: labelRows(d),
		SplitsFile: splitRows(d.Classes, append([]dataset.Split{d.Split}, others...)),
	} {
		if err := fileio.WriteCSV(filepath.Join(dir, name), rows); err != nil {
			return err
		}
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
	err := fileio.WriteCSV(filepath.Join(dir, imagesFile), column(pathColumn, paths))
	if err != nil || classes == nil {
		return err
	}
	return fileio.WriteCSV(filepath.Join(dir, labelsFile), column(classColumn, classes))
}

// column returns the rows of a table of one column.
func column(name string, cells []string) [][]string {
	rows := [][]string{{name}}
	for _, cell := range cells {
		rows = append(rows, []string{cell})
	}
	return rows
}

// WriteSplits writes one to three splits of the classes in the form of splits.csv.
func WriteSplits(path string, classes []string, splits ...dataset.Split) error {
	return fileio.WriteCSV(path, splitRows(classes, splits))
}

func splitRows(classes []string, splits []dataset.Split) [][]string {
	rows := [][]string{append([]string{classColumn}, partColumns[:len(splits)]...)}
	for _, name := range classes {
		rows = append(rows, append([]string{name}, make([]string, len(splits))...))
	}
	for n, split := range splits {
		for _, subset := range split.Subsets() {
			for _, z := range subset.Classes {
				rows[1+z][1+n] = subset.Name
			}
		}
	}
	return rows
}

func attributeRows(d *dataset.Dataset) [][]string {
	rows := [][]string{{"name", "group"}}
	for _, a := range d.Attributes {
		group := ""
		if d.Groups != nil {
			group = d.Groups[a.Group]
		}
		rows = append(rows, []string{a.Name, group})
	}
	return rows
}

func classRows(d *dataset.Dataset) [][]string {
	header := []string{classColumn}
	for _, a := range d.Attributes {
		header = append(header, a.Name)
	}
	rows := [][]string{header}
	for z, name := range d.Classes {
		cells := []string{name}
		for _, p := range d.Descriptions.Row(z) {
			text := ""
			if !math.IsNaN(p) {
				text = strconv.FormatFloat(p, 'g', -1, 64)
			}
			cells = append(cells, text)
		}
		rows = append(rows, cells)
	}
	return rows
}

// labelRows has columns for ids and held-out samples only if there are some.
func labelRows(d *dataset.Dataset) [][]string {
	row := func(class string, id, held string) []string {
		cells := []string{class}
		if d.IDs != nil {
			cells = append(cells, id)
		}
		if len(d.TestSeen) > 0 {
			cells = append(cells, held)
		}
		return cells
	}
	rows := [][]string{row(classColumn, idColumn, testSeenColumn)}
	for i, z := range d.Labels {
		id, held := "", "no"
		if d.IDs != nil {
			id = d.IDs[i]
		}
		if _, found := slices.BinarySearch(d.TestSeen, i); found {
			held = "yes"
		}
		rows = append(rows, row(d.Classes[z], id, held))
	}
	return rows
}

// writable checks that the names of d would be read as they are written.
func writable(d *dataset.Dataset) error {
	columns := []string{classColumn} // no attribute may have its name
	for _, a := range d.Attributes {
		columns = append(columns, a.Name)
	}
	for field, names := range map[string][]string{
		"names of the classes": d.Classes, "names of the attributes": columns, "names of the groups": d.Groups, "ids of the samples": d.IDs,
	} {
		seen := make(map[string]bool, len(names))
		for _, name := range names {
			if !isPlain(name) || seen[name] {
				return &invalid.Error{
					Where: d.Name, Field: field, Got: invalid.Quote(name),
					Want: "different names of printable characters that do not begin or end with a space",
				}
			}
			seen[name] = true
		}
	}
	return nil
}

// isPlain reports whether a cell with the name is read as that name.
func isPlain(name string) bool {
	return name != "" && utf8.ValidString(name) && strings.TrimSpace(name) == name &&
		!invalid.HasControl(name) && !strings.HasPrefix(name, "\ufeff")
}
