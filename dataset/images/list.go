package images

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Image is the file of an image.
type Image struct {
	ID    string // the path below the folder, with slashes
	Path  string // of the file
	Class string // "" if it is not known
	Box   *Box   // what to crop it to; nil for the whole image
	Data  []byte // content of the file if it is in memory, nil to read Path
}

// Box is a bounding box in pixels, from the upper left corner of the image.
type Box struct{ X, Y, Width, Height float64 }

var extensions = []string{".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}

// List returns the images of a folder, sorted: either those of its subfolders, which are
// the classes, or those in the folder itself, of no known class. Hidden files and files
// with other extensions are ignored.
func List(dir string) ([]Image, error) {
	all, folders, err := entries(dir, "")
	if err != nil {
		return nil, err
	}
	const hint = "A list (path,class) can name images anywhere."
	if len(all) > 0 && len(folders) > 0 {
		return nil, &invalid.Error{
			Where: dir, Want: "either images or a folder of images for each class", Got: "both, as in " + all[0].ID + " and " + folders[0], Hint: hint,
		}
	}
	for _, class := range folders {
		below, more, err := entries(dir, class)
		if err != nil {
			return nil, err
		}
		if len(more) > 0 {
			return nil, &invalid.Error{Where: filepath.Join(dir, class), Want: "the images of one class", Got: "a folder, " + more[0], Hint: hint}
		}
		all = append(all, below...)
	}
	if len(all) > 0 {
		return all, nil
	}
	e := &invalid.Error{Where: dir, Want: "images: " + strings.Join(extensions, ", "), Got: "none"}
	if n, extension := otherFiles(dir, folders); n > 0 {
		e.Got = fmt.Sprintf("%s, which are not read", format.Count(n, extension+" file"))
		e.Hint = "Convert photographs to JPEG or PNG."
	}
	return nil, e
}

// otherFiles returns the most frequent extension of the files in a folder and its subfolders,
// none of which has that of an image, and how many files have it.
func otherFiles(dir string, folders []string) (n int, extension string) {
	count := make(map[string]int)
	for _, folder := range append(folders, "") {
		list, _ := os.ReadDir(filepath.Join(dir, folder)) // it was read before
		for _, e := range list {
			if ext := strings.ToLower(filepath.Ext(e.Name())); ext != "" && !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				count[ext]++
			}
		}
	}
	for _, ext := range slices.Sorted(maps.Keys(count)) {
		if count[ext] > n {
			n, extension = count[ext], ext
		}
	}
	return n, format.Printable(extension)
}

// entries returns the images and the folders in the folder of a class, or in the whole one
// for none, sorted, without hidden ones.
func entries(dir, class string) (files []Image, folders []string, err error) {
	folder := filepath.Join(dir, class)
	list, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil, invalid.File(folder, err)
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		file := filepath.Join(folder, e.Name())
		info, err := os.Stat(file) // follows links
		isImage := slices.Contains(extensions, strings.ToLower(filepath.Ext(file)))
		switch {
		case err != nil:
			return nil, nil, invalid.File(file, err)
		case !info.IsDir() && !isImage:
		case invalid.HasControl(e.Name()) || strings.TrimSpace(e.Name()) != e.Name(): // which a table cannot hold
			return nil, nil, &invalid.Error{Where: folder, Field: "name " + invalid.Quote(e.Name()), Want: "no control characters, and no spaces at the ends"}
		case info.IsDir():
			folders = append(folders, e.Name())
		default:
			files = append(files, Image{ID: path.Join(class, e.Name()), Path: file, Class: class})
		}
	}
	return files, folders, nil
}

// ReadList reads a CSV file with a column path and, if the classes are known, a column
// class. Paths are relative to dir or, if that is empty, to the folder of the file.
func ReadList(ctx context.Context, file, dir string) ([]Image, error) {
	var problems invalid.List
	t := table.Read(ctx, file, &problems, []string{"path"}, "class")
	if t == nil {
		return nil, cmp.Or(ctx.Err(), problems.Err())
	}
	dir = cmp.Or(dir, filepath.Dir(file))
	var all []Image
	ids := t.Names("path")
	for i, row := range t.Rows {
		m := Image{ID: filepath.ToSlash(ids[i]), Path: filepath.FromSlash(ids[i]), Class: t.Cell(row, "class")}
		if !filepath.IsAbs(m.Path) {
			m.Path = filepath.Join(dir, m.Path)
		}
		if t.Column("class") >= 0 && m.Class == "" {
			t.Report("class", row.Line, "class", "a class for every image", "none")
		}
		all = append(all, m)
	}
	return all, problems.Err()
}

// SetBoxes reads bounding boxes of all images from a CSV file with the columns path, x, y,
// width and height. Paths are the IDs of the images.
func SetBoxes(ctx context.Context, file string, all []Image) error {
	var problems invalid.List
	columns := []string{"path", "x", "y", "width", "height"}
	t := table.Read(ctx, file, &problems, columns)
	if t == nil {
		return cmp.Or(ctx.Err(), problems.Err())
	}
	boxes := make(map[string]*Box, len(t.Rows))
	for i, name := range t.Names("path") {
		var v [4]float64
		for j, column := range columns[1:] {
			var err error
			text := t.Cell(t.Rows[i], column)
			if v[j], err = table.Number(text, 64); err != nil || math.IsNaN(v[j]) || math.Abs(v[j]) > maxPixels || j > 1 && v[j] <= 0 {
				t.Report("box", t.Rows[i].Line, column, "pixels, with a width and height above 0", invalid.Quote(text))
			}
		}
		boxes[filepath.ToSlash(name)] = &Box{v[0], v[1], v[2], v[3]}
	}
	for i, m := range all {
		if all[i].Box = boxes[m.ID]; all[i].Box == nil {
			problems.Add("missing", &invalid.Error{Where: file, Field: invalid.Quote(m.ID), Want: "a bounding box for every image", Got: "none"})
		}
	}
	return problems.Err()
}
