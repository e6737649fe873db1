package images

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Box is a bounding box in pixels, from the upper left corner of the image.
type Box struct{ X, Y, Width, Height float64 }

// pathColumns are the names of the column of paths in tables of images.
var pathColumns = []string{"path", "filename", "file_name", "image", "file"}

// boxColumns are the columns of boxes, in a table of which some may lack.
type boxColumns struct {
	names   []string // four
	corners bool     // the last two are those of the other corner
	there   int
}

func columnsOf(t *table.Table) (b boxColumns) {
	for i, names := range [][]string{
		{"x", "y", "width", "height"}, {"xmin", "ymin", "xmax", "ymax"}, {"x1", "y1", "x2", "y2"},
	} {
		there := 0
		for _, name := range names {
			if t.Has(name) {
				there++
			}
		}
		if i == 0 || there > 0 && t.Has(names[2]) { // width and height may be those of the image
			b = boxColumns{names, i > 0, there}
		}
	}
	return b
}

func (b boxColumns) all() bool { return b.there == len(b.names) }

// read reads the box of a row; what is none is reported.
func (b boxColumns) read(t *table.Table, row table.Row) *Box {
	var v [4]float64
	for j, column := range b.names {
		var err error
		text := t.Cell(row, column)
		if v[j], err = table.Number(text, 64); b.corners && j > 1 {
			v[j] -= v[j-2]
		}
		if err != nil || math.IsNaN(v[j]) || math.Abs(v[j]) > maxPixels || j > 1 && v[j] <= 0 {
			t.Report("box", row.Line, column, "pixels, with a width and height above 0", invalid.Quote(text))
		}
	}
	return &Box{v[0], v[1], v[2], v[3]}
}

// ignored notes the columns of a table that are neither of boxes nor others that are read.
func (b boxColumns) ignored(t *table.Table, read ...string) []string {
	others := slices.DeleteFunc(slices.Clone(t.Columns), func(column string) bool {
		return column == "" || slices.Contains(read, column) || b.all() && slices.Contains(b.names, column)
	})
	if len(others) == 0 {
		return nil
	}
	return []string{"columns ignored: " + strings.Join(others, ", ")}
}

// part is the ID of an image that is in a table for the n-th time, with another box.
func part(id string, n int) string {
	if n == 1 {
		return id
	}
	return fmt.Sprintf("%s#%d", id, n)
}

// number makes the paths of a table different.
func number(t *table.Table, column string) {
	seen := map[string]int{}
	for _, row := range t.Rows {
		cell := &row.Cells[t.Column(column)]
		seen[*cell]++
		*cell = part(*cell, seen[*cell])
	}
}

// boxes are what a file has of boxes.
type boxes struct {
	of      map[string]*Box   // by the ID of images, see part
	classes map[string]string // by the same
	without map[string]bool   // images that are there, without a box
	// the boxes are fractions of the sides of images
	fractions bool
	notes     []string
}

// SetBoxes returns images cropped to the bounding boxes of a file. It is a CSV file with the columns path
// (see ReadList), x, y, width and height, or two corners: xmin, ymin, xmax and ymax, or x1, y1, x2 and y2; or
// JSON of COCO or MegaDetector. Paths are the IDs of the images. Of several boxes of an image each is one,
// with the IDs path, path#2 and so on. Images of JSON without a box are left out; images of no known class
// have that of their box in COCO. The note says what was left out or ignored.
func SetBoxes(ctx context.Context, file string, all []Image) (cropped []Image, note string, err error) {
	data, err := fileio.ReadFile(ctx, file, maxAnnotations)
	if err != nil {
		return nil, "", err
	}
	var found *boxes
	if first := bytes.TrimSpace(data[:min(len(data), 256)]); bytes.HasPrefix(first, []byte("{")) ||
		bytes.HasPrefix(first, []byte("[")) {
		found, err = readAnnotations(file, data)
	} else {
		found, err = readBoxes(file, data)
	}
	if err != nil {
		return nil, "", err
	}
	var problems invalid.List
	listed, left := map[string]bool{}, 0
	for _, m := range all {
		listed[m.ID] = true
	}
	for _, m := range all {
		id := m.ID
		if found.without[id] {
			left++
			continue
		}
		for n := 1; n == 1 || found.of[part(id, n)] != nil && !listed[part(id, n)]; n++ {
			m.ID = part(id, n)
			if m.Box = found.of[m.ID]; m.Box == nil {
				problems.Add("missing", &invalid.Error{
					Where: file, Field: invalid.Quote(id), Want: "a bounding box for every image",
					Got: "none",
				})
			} else if found.fractions {
				if w, h, err := m.size(ctx); err == nil { // else the image is refused where it is decoded
					x, y := float64(w), float64(h)
					m.Box = &Box{m.Box.X * x, m.Box.Y * y, m.Box.Width * x, m.Box.Height * y}
				}
			}
			m.Class = cmp.Or(m.Class, found.classes[m.ID])
			cropped = append(cropped, m)
		}
	}
	if len(cropped) == 0 {
		problems.AddError(&invalid.Error{Where: file, Want: "a box of an image", Got: "none"})
	}
	if err := problems.Err(); err != nil {
		return nil, "", err
	}
	if left > 0 {
		found.notes = append(found.notes, format.Count(left, "image")+" without a box left out")
	}
	if len(found.notes) > 0 {
		note = format.Printable(file + ": " + strings.Join(found.notes, ", "))
	}
	return cropped, note, checkUnits(ctx, file, cropped)
}

// readBoxes reads the boxes of a CSV file.
func readBoxes(file string, data []byte) (*boxes, error) {
	var problems invalid.List
	t := table.ParseWith(file, bytes.NewReader(data), &problems, nil, table.Any)
	if t == nil {
		return nil, problems.Err()
	}
	name, columns := t.First(pathColumns...), columnsOf(t)
	if !t.HasColumns(append([]string{name}, columns.names...), table.Any) {
		return nil, problems.Err()
	}
	number(t, name)
	b := &boxes{of: make(map[string]*Box, len(t.Rows)), notes: columns.ignored(t, name, "class", "label")}
	for i, id := range t.Names(name) {
		id = filepath.ToSlash(id)
		b.of[id] = columns.read(t, t.Rows[i])
		b.of[strings.ReplaceAll(id, `\`, "/")] = b.of[id] // as Windows writes it
	}
	return b, problems.Err()
}

// The numbers of images and of pixels from which boxes are compared with the sizes of their images.
const (
	maxMeasured = 100
	leastShown  = 256
)

// checkUnits returns an error for boxes that cannot be in pixels, with a width and height: fractions
// or percent of the image, or two corners. They are compared with the sizes of some images.
func checkUnits(ctx context.Context, file string, all []Image) error {
	largest, wider := 0., true // of all boxes
	most := 0.                 // of their numbers
	for _, m := range all {
		largest = max(largest, m.Box.X+m.Box.Width, m.Box.Y+m.Box.Height)
		most = max(most, m.Box.X, m.Box.Y, m.Box.Width, m.Box.Height)
		wider = wider && m.Box.Width > m.Box.X && m.Box.Height > m.Box.Y
	}
	smallest, corners, outside, beyond := math.MaxInt, true, false, 0 // of the images
	measured := all[:min(len(all), maxMeasured)]
	for _, m := range measured {
		w, h, err := m.size(ctx)
		if err != nil {
			return nil // the image is refused where it is decoded
		}
		smallest = min(smallest, w, h)
		corners = corners && m.Box.Width <= float64(w)+1 && m.Box.Height <= float64(h)+1
		if m.Box.X+m.Box.Width > mostBeyond*float64(w) || m.Box.Y+m.Box.Height > mostBeyond*float64(h) {
			beyond++
		}
		outside = outside || m.Box.X+m.Box.Width > float64(w)+1 || m.Box.Y+m.Box.Height > float64(h)+1
	}
	e := &invalid.Error{Where: file, Field: "boxes", Want: "x, y, width and height in pixels"}
	switch {
	case wider && largest > fractionLimit && most <= fractionLimit && smallest > leastShown/16:
		e.Got, e.Hint = "no number above 1, as of corners in "+
			"fractions of the image", "Multiply by the sides of each image, and write x2 - x and y2 - y "+
			"in place of x2 and y2."
	case wider && largest > percentLimit && most <= percentLimit && smallest >= 2*leastShown:
		e.Got = fmt.Sprintf("no number above 100 in images of %d pixels and more, as of corners "+
			"in percent of the image", smallest)
		e.Hint = "Multiply by a hundredth of the sides of each image, and write x2 - x and y2 - " +
			"y in place of x2 and y2."
	case largest <= fractionLimit && smallest > leastShown/16:
		e.Got, e.Hint = "no number above 1, as in fractions of the image", "Multiply x and width by the "+
			"width of each image, y and height by its height."
	case largest <= percentLimit && smallest >= leastShown:
		e.Got = fmt.Sprintf("no box beyond 100 in images of %d pixels and more, as in percent of the image",
			smallest)
		e.Hint = "Multiply x and width by a hundredth of the width of each image, y and " +
			"height by one of its height."
	case wider && corners && outside:
		e.Got = "boxes that end outside of their images unless width and height are x2 and y2, another corner"
		e.Hint = "Write x2 - x and y2 - y in place of them."
	case 4*beyond > len(measured):
		e.Got = fmt.Sprintf("%d of the first %d that end outside of their images", beyond, len(measured))
		e.Hint = "Are they of the images in another size, or is x, y their centre?"
	default:
		return nil
	}
	return e
}

// Boxes in fractions or percent of an image end at most here, where rounding added a little.
const (
	fractionLimit = 1.01
	percentLimit  = 101
	mostBeyond    = 1.05 // of a side, where people draw boxes
)
