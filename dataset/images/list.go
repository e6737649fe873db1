package images

import (
	"cmp"
	"context"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
	Data  []byte // content of the file if it is in memory, nil to read Path
}

// The extensions of images that are read. Other files are read if their first bytes are those of an image.
var extensions = []string{
	".jpg", ".jpeg", ".jpe", ".jfif", ".jpg_large", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff",
}

func isImage(path string) bool {
	if slices.Contains(extensions, strings.ToLower(filepath.Ext(path))) {
		return true
	}
	f, _, err := fileio.OpenRegular(context.Background(), path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // nothing was written
	first := make([]byte, 16)
	n, _ := io.ReadFull(f, first) // a shorter file is no image
	return fileio.FormatOf(first[:n]).Name == fileio.Picture
}

// ListPaths returns the images that paths name: files, or folders of images on all levels. Those of the same
// name in several folders are known by their paths. The warnings are those of List.
func ListPaths(paths []string) (all []Image, warnings []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, nil, invalid.Folder(path, "a photograph, or a folder of them", err)
		}
		if !info.IsDir() {
			all = append(all, Image{ID: path, Path: path})
			continue
		}
		below, warning, err := List(path, true)
		if err != nil {
			return nil, nil, err
		}
		all, warnings = append(all, below...), append(warnings, warning)
	}
	first := map[string]int{}
	for i, m := range all {
		if other, repeated := first[m.ID]; repeated {
			all[other].ID, all[i].ID = filepath.ToSlash(all[other].Path), filepath.ToSlash(m.Path)
		} else {
			first[m.ID] = i
		}
	}
	return all, warnings, nil
}

// List returns the images in the subfolders of a folder, which are the classes, sorted. Hidden files and the
// folders of systems are ignored. The warning, if there is one, says how many files of which kinds are not
// read, and which classes have no other.
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
	if len(l.images) > 0 && !deep {
		return nil, "", &invalid.Error{
			Where: dir, Want: "a folder of images for each class", Got: "images, such as " + l.images[0].ID,
			Hint: hint + " Photographs without classes are for predict --images.",
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
			return nil, "", &invalid.Error{
				Where: filepath.Join(dir, class), Want: "the images of one class",
				Got: "a folder, " + l.folders[0], Hint: "Name the folder above those of the classes. " + hint,
			}
		}
		if len(l.images) == before && len(l.folders) == 0 {
			empty = append(empty, class)
		}
	}
	if len(l.images) == 0 {
		e := &invalid.Error{Where: dir, Want: "images: " + strings.Join(extensions, ", "), Got: "none"}
		if kinds := l.kinds(); kinds != "" {
			e.Got, e.Hint = kinds+", which are not read", fileio.ConvertHint
		}
		return nil, "", e
	}
	return l.images, l.warning(empty), nil
}

type listing struct {
	dir     string
	deep    bool
	images  []Image
	folders []string
	unread  map[string]int // files that are not read, by kind
}

func (l *listing) kinds() string {
	var kinds []string
	for _, ext := range slices.Sorted(maps.Keys(l.unread)) {
		kinds = append(kinds, format.Count(l.unread[ext], ext))
	}
	return strings.Join(kinds, ", ")
}

// warning says what is not read, and which classes have no image; "" if there is neither.
func (l *listing) warning(empty []string) string {
	var parts []string
	if kinds := l.kinds(); kinds != "" {
		parts = append(parts, kinds+" not read")
	}
	if len(empty) > 0 {
		parts = append(parts, "no image that can be read of "+format.Count(len(empty), "class")+": "+
			strings.Join(empty[:min(len(empty), 5)], ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return format.Printable(l.dir+": "+strings.Join(parts, "; ")) + ". " + fileio.ConvertHint
}

// systemFolders have no photographs of their owner: thumbnails, deleted files, and what zips of a Mac have.
var systemFolders = []string{"__MACOSX", "@eaDir", "#recycle", "$RECYCLE.BIN", "System Volume Information"}

// read adds what is in the folder of a class, or in the whole one for none, sorted, without hidden files.
func (l *listing) read(class string) error {
	folder := l.dir
	if class != "" {
		folder = filepath.Join(l.dir, class)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return invalid.Folder(folder, "a folder of photographs", err)
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || slices.Contains(systemFolders, name) {
			continue
		}
		file := filepath.Join(folder, name)
		info, err := os.Stat(file) // follows links
		isDir := err == nil && info.IsDir()
		read := !isDir && isImage(file)
		switch {
		case err != nil && !read: // else it is a link to nothing, and refused as an image that is broken
			return invalid.File(file, err)
		case !isDir && !read:
			l.unread[strings.TrimSpace(strings.ToLower(filepath.Ext(name))+" file")]++
		case invalid.HasControl(name) || strings.TrimSpace(name) != name: // which a table cannot hold
			return &invalid.Error{
				Where: folder, Field: "name " + invalid.Quote(name),
				Want: "UTF-8 without control characters, and no spaces at the ends",
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

// ListForm is the form of a list of images.
const ListForm = "a CSV file with the columns path and class; where there are others, --class-column NAME " +
	"says which one has the class"

// ReadList reads a list of images, with the classes in a column, by default class. Without one, and without
// other columns, a list has paths alone, unless it must have classes. Paths are relative to dir or, if that
// is empty, to the folder of the file.
func ReadList(ctx context.Context, file, dir, column string, classes bool) (all []Image, err error) {
	var problems invalid.List
	t := table.ReadText(ctx, file, &problems)
	if t == nil {
		return nil, cmp.Or(ctx.Err(), problems.Err())
	}
	form, required, class := ListForm, []string{"path"}, cmp.Or(column, "class")
	if column != "" {
		form = "a CSV file with the columns path and " + column
	}
	if classes || column != "" || len(t.Columns) > 1 {
		required = append(required, class)
	}
	if !t.HasColumns(required, table.Any) || column == "" && len(t.Columns) > len(required) {
		return nil, &invalid.Error{Where: file, Field: "line 1", Want: form, Got: t.Header()}
	}
	dir = cmp.Or(dir, filepath.Dir(file))
	ids := t.Names("path")
	for i, row := range t.Rows {
		id := filepath.ToSlash(ids[i])
		if _, err := os.Stat(dataset.ImageFile(dir, id)); err != nil {
			id = strings.ReplaceAll(id, `\`, "/") // a list that was written on Windows
		}
		m := Image{ID: id, Path: dataset.ImageFile(dir, id), Class: t.Cell(row, class)}
		if len(required) > 1 && m.Class == "" {
			t.Report("class", row.Line, class, "a class for every image", "none")
		} else if _, want := dataset.CheckName(m.Class); m.Class != "" && want != "" {
			t.Report("class", row.Line, class, want, invalid.Quote(m.Class))
		}
		all = append(all, m)
	}
	return all, problems.Err()
}
