package images

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
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

// The extensions of images that are read, and of other pictures. Files with one of the others, or
// with an unknown one, are read if their first bytes are those of an image.
var (
	extensions = []string{
		".jpg", ".jpeg", ".jpe", ".jfif", ".jpg_large", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff",
	}
	unreadable = []string{
		".heic", ".heif", ".avif", ".jxl", ".jp2", ".j2k", ".dng", ".cr2", ".cr3", ".nef", ".arw", ".orf",
		".rw2", ".raf", ".raw", ".psd", ".svg", ".tga", ".ppm",
		".hif", ".pef", ".srw", ".nrw", ".3fr", ".jpx", ".jpf", ".pgm", ".pnm", ".exr", ".mpo", ".eps",
		".pdf",
		".mov", ".mp4", ".avi",
	}
)

// isImage reports whether a file is an image to read, by its name or else by its first bytes. Of a
// picture that is not read, other is the kind.
func isImage(path string) (image bool, other string) {
	ext := strings.ToLower(filepath.Ext(path))
	if slices.Contains(extensions, ext) {
		return true, ""
	}
	f, _, err := fileio.OpenRegular(context.Background(), path)
	if err != nil {
		return false, ""
	}
	defer func() { _ = f.Close() }() // nothing was written
	first := make([]byte, 16)
	n, _ := io.ReadFull(f, first) // a shorter file is no image
	switch found := fileio.FormatOf(first[:n]); {
	case slices.Contains([]string{
		"image/jpeg", "image/png", "image/gif", "image/webp",
	}, http.DetectContentType(first[:n])):
		return true, ""
	case slices.Contains(unreadable, ext):
		return false, ext + " file"
	case found.Hint == fileio.ConvertHint:
		_, other, _ = strings.Cut(found.Name, " ")
	}
	return false, other
}

// List returns the images of a folder, sorted: either those of its subfolders, which are the classes, or
// those in the folder itself, of no known class. Hidden files and the folders of systems are ignored. The
// warning, if there is one, says how many pictures of which kinds are not read, and which classes have no
// other.
//
// With deep, it returns the images of all levels, each with the name of its folder as its class, if any:
// such folders may also be sites, months or memory cards.
func List(dir string, deep bool) (list []Image, warning string, err error) {
	l := listing{dir: dir, deep: deep, unread: make(map[string]int)}
	if err := l.read(""); err != nil {
		return nil, "", err
	}
	const hint = "A list (path,class) can name images anywhere."
	folders := l.folders
	if len(l.images) > 0 && len(folders) > 0 && !deep {
		return nil, "", &invalid.Error{
			Where: dir, Want: "either images or a folder of images for each class",
			Got: "both, as in " + l.images[0].ID + " and " + folders[0], Hint: hint,
		}
	}
	var empty []string
	for len(folders) > 0 {
		class, before := folders[0], len(l.images)
		folders, l.folders = folders[1:], nil
		if err := l.read(class); err != nil {
			return nil, "", err
		}
		if deep {
			for i, folder := range slices.Backward(l.folders) { // below it, before the next one
				l.folders[i] = path.Join(class, folder)
			}
			folders = slices.Concat(l.folders, folders)
		} else if len(l.folders) > 0 {
			e := &invalid.Error{
				Where: filepath.Join(dir, class), Want: "the images of one class",
				Got: "a folder, " + l.folders[0], Hint: hint,
			}
			if before == 0 && len(l.images) == 0 && len(l.folders) > 1 { // the folders of classes are in this one
				e.Hint = invalid.Suggest([]string{e.Where})
			}
			return nil, "", e
		}
		if len(l.images) == before && len(l.folders) == 0 {
			empty = append(empty, class)
		}
	}
	var kinds, parts []string
	byCount := func(a, b string) int { return cmp.Or(l.unread[b]-l.unread[a], cmp.Compare(a, b)) }
	for _, ext := range slices.SortedFunc(maps.Keys(l.unread), byCount) {
		kinds = append(kinds, format.Count(l.unread[ext], ext))
	}
	if len(l.images) == 0 {
		e := &invalid.Error{Where: dir, Want: "images: " + strings.Join(extensions, ", "), Got: "none"}
		if len(kinds) > 0 {
			e.Got, e.Hint = strings.Join(kinds, ", ")+", which are not read", fileio.ConvertHint
		}
		return nil, "", e
	}
	if len(kinds) > 0 {
		parts = append(parts, strings.Join(kinds, ", ")+" not read")
	}
	if len(empty) > 0 {
		parts = append(parts, "no image that can be read of "+format.Count(len(empty), "class")+": "+
			strings.Join(empty[:min(len(empty), 5)], ", "))
	}
	if len(parts) > 0 {
		warning = format.Printable(dir+": "+strings.Join(parts, "; ")) + ". " + fileio.ConvertHint
	}
	return l.images, warning, nil
}

// listing is what was found in a folder.
type listing struct {
	dir     string
	deep    bool
	images  []Image
	folders []string
	unread  map[string]int // pictures that are not read, by kind
}

// systemFolders have no photographs of their owner: thumbnails, deleted files, and what zips of a Mac have.
var systemFolders = []string{
	"__MACOSX", "@eaDir", "@Recycle", "#recycle", "#snapshot", "$RECYCLE.BIN", "RECYCLER",
	"System Volume Information", "lost+found",
}

// read adds what is in the folder of a class, or in the whole one for none, sorted, without hidden files.
func (l *listing) read(class string) error {
	folder := filepath.Join(l.dir, class)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return invalid.File(folder, err)
	}
	for _, e := range entries {
		name := e.Name()
		isSystem := func(system string) bool { return strings.EqualFold(system, name) }
		if strings.HasPrefix(name, ".") || slices.ContainsFunc(systemFolders, isSystem) {
			continue
		}
		file := filepath.Join(folder, name)
		info, err := os.Stat(file) // follows links
		read, other := false, ""
		isDir := err == nil && info.IsDir()
		if !isDir {
			read, other = isImage(file)
		}
		switch {
		case err != nil && !read: // else it is a link to nothing, and refused as an image that is broken
			return invalid.File(file, err)
		case !isDir && !read:
			if other != "" {
				l.unread[other]++
			}
		case !utf8.ValidString(name):
			return &invalid.Error{
				Where: folder, Field: "name " + invalid.Quote(name), Want: "a name in UTF-8",
				Got: "another encoding", Hint: "Rename it; convmv converts many names.",
			}
		case invalid.HasControl(name) || strings.TrimSpace(name) != name: // which a table cannot hold
			return &invalid.Error{
				Where: folder, Field: "name " + invalid.Quote(name),
				Want: "no control characters, and no spaces at the ends",
			}
		case isDir:
			l.folders = append(l.folders, name)
		default:
			m := Image{Path: file, Class: dataset.Name(class)}
			m.ID = path.Join(m.Class, dataset.Name(name))
			if l.deep && class != "" {
				m.Class = path.Base(m.Class)
			}
			l.images = append(l.images, m)
		}
	}
	return nil
}

// elsewhere matches absolute paths of Windows, URLs, and the home folder as shells write it.
var elsewhere = regexp.MustCompile(`^([A-Za-z]:[/\\]|\\\\|[A-Za-z0-9]+://|~)`)

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
		id := filepath.ToSlash(ids[i])
		if _, err := os.Stat(dataset.ImageFile(dir, id)); err != nil {
			if elsewhere.MatchString(id) {
				problems.Add("elsewhere", &invalid.Error{
					Where: file, Field: fmt.Sprintf("line %d, column path", row.Line),
					Want: "the path of a file", Got: invalid.Quote(id),
					Hint: "Write paths below the folder of the list, or below --images DIR.",
				})
			}
			id = strings.ReplaceAll(id, `\`, "/") // a list that was written on Windows
		}
		m := Image{ID: id, Path: dataset.ImageFile(dir, id), Class: t.Cell(row, "class")}
		if t.Column("class") >= 0 && m.Class == "" {
			t.Report("class", row.Line, "class", "a class for every image", "none")
		} else if _, want := dataset.CheckName(m.Class); m.Class != "" && want != "" {
			t.Report("class", row.Line, "class", want, invalid.Quote(m.Class))
		}
		all = append(all, m)
	}
	return all, problems.Err()
}

// SetBoxes reads bounding boxes of all images from a CSV file with the columns path, x, y, width and height,
// or with two corners: xmin, ymin, xmax and ymax, or x1, y1, x2 and y2. Paths are the IDs of the images.
func SetBoxes(ctx context.Context, file string, all []Image) error {
	var problems invalid.List
	t := table.Read(ctx, file, &problems, []string{"path"}, table.Any)
	if t == nil {
		return cmp.Or(ctx.Err(), problems.Err())
	}
	columns, corners := []string{"x", "y", "width", "height"}, false
	for _, names := range [][]string{{"xmin", "ymin", "xmax", "ymax"}, {"x1", "y1", "x2", "y2"}} {
		if slices.ContainsFunc(t.Columns, func(column string) bool {
			return strings.EqualFold(column, names[2])
		}) {
			columns, corners = names, true
		}
	}
	if !t.HasColumns(columns, table.Any) {
		return problems.Err()
	}
	boxes := make(map[string]*Box, len(t.Rows))
	for i, name := range t.Names("path") {
		var v [4]float64
		for j, column := range columns {
			var err error
			text := t.Cell(t.Rows[i], column)
			if v[j], err = table.Number(text, 64); corners && j > 1 {
				v[j] -= v[j-2]
			}
			if err != nil || math.IsNaN(v[j]) || math.Abs(v[j]) > maxPixels || j > 1 && v[j] <= 0 {
				t.Report("box", t.Rows[i].Line, column, "pixels, with a width and height above 0",
					invalid.Quote(text))
			}
		}
		name = filepath.ToSlash(name)
		boxes[name] = &Box{v[0], v[1], v[2], v[3]}
		boxes[strings.ReplaceAll(name, `\`, "/")] = boxes[name] // as Windows writes it
	}
	for i, m := range all {
		if all[i].Box = boxes[m.ID]; all[i].Box == nil {
			problems.Add("missing", &invalid.Error{
				Where: file, Field: invalid.Quote(m.ID), Want: "a bounding box for every image", Got: "none",
			})
		}
	}
	if err := problems.Err(); err != nil {
		return err
	}
	return checkUnits(ctx, file, all)
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
