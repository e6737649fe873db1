package fetch

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// errArchive is wrapped by the errors whose cause is the content of an archive.
var errArchive = errors.New("the archive is damaged or unsafe")

// unpack writes the wanted files of a zip archive into a new folder, or one that has none of
// them, and sets f.sizes. The archive is not trusted: whatever its entries are called, the
// files have the names of the layout.
func (f *fetcher) unpack(ctx context.Context, archive, dir string, wanted []string) error {
	file, size, err := fileio.OpenRegular(ctx, archive)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // nothing was written
	chosen, total, err := f.choose(file, size, wanted)
	progress := f.meter("unpacking "+f.folder, 0, total)
	for name, e := range chosen {
		if err == nil {
			f.sizes[name] = int64(e.UncompressedSize64)
			err = unpackFile(e, filepath.Join(dir, filepath.FromSlash(name)), progress)
		}
	}
	if err == nil || ctx.Err() != nil || errors.As(err, new(*fs.PathError)) {
		return err
	}
	return &invalid.Error{Where: archive, Err: fmt.Errorf("%w: %w", errArchive, err)}
}

// choose returns the entries of the wanted files, by the names of these, and their size in
// bytes. It checks all that can be checked before they are read.
func (f *fetcher) choose(file io.ReaderAt, size int64, wanted []string) (chosen map[string]*zip.File, total int64, err error) {
	r, err := zip.NewReader(file, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, 0, err
	}
	chosen = make(map[string]*zip.File)
	for _, e := range r.File {
		name := f.fileOf(e.Name)
		if !slices.Contains(wanted, name) {
			continue
		}
		refused := &invalid.Error{Field: fmt.Sprintf("entry %.100q", e.Name)} // of any length and characters
		switch most := uint64(f.maxBytes - total); {
		case chosen[name] != nil:
			refused.Want, refused.Got = "one entry for "+name, "another one before it"
			return nil, 0, refused
		case !e.Mode().IsRegular() || e.Flags&1 != 0:
			refused.Want, refused.Got = "a regular file that is not encrypted", "mode "+e.Mode().String()
			return nil, 0, refused
		case e.UncompressedSize64 > most:
			refused.Want, refused.Got = fmt.Sprintf("at most %d more bytes", most), fmt.Sprint(e.UncompressedSize64)
			return nil, 0, refused
		}
		chosen[name] = e
		total += int64(e.UncompressedSize64)
	}
	return chosen, total, nil
}

// unpackFile writes one file, and syncs it and its folder. The zip reader compares size and
// checksum, and returns no bytes beyond the declared size.
func unpackFile(e *zip.File, path string, progress io.Writer) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close(), fileio.SyncFolder(filepath.Dir(path))) }()
	from, err := e.Open()
	if err == nil {
		_, err = io.Copy(io.MultiWriter(progress, to), from)
		_ = from.Close() // nothing was written
	}
	if err != nil {
		return fmt.Errorf("entry %.100q: %w", e.Name, err)
	}
	return to.Sync()
}

// The files of a data set's folder, as package xlsa17 reads them. In the LAGO data
// archive the files of the release are in a folder xian2017.
var (
	releaseFiles  = []string{"res101.mat", "att_splits.mat", "trainclasses1.txt", "valclasses1.txt", "trainvalclasses.txt", "testclasses.txt"}
	optionalFiles = []string{"allclasses.txt", "trainclasses2.txt", "valclasses2.txt", "trainclasses3.txt", "valclasses3.txt"}
	metaFiles     = []string{"meta/attribute_names_with_semantic_group.txt", "meta/class_descriptions_by_attributes.txt", "meta/classes.txt"}
)

// fileOf returns the path below the folder of the data set at which an entry of an archive
// belongs, "" if it is not of the data set. It is always one of the paths of the layout.
func (s source) fileOf(entry string) string {
	elements := strings.Split(entry, "/")
	for folder := len(elements) - 2; folder >= max(len(elements)-3, 0); folder-- {
		if !strings.EqualFold(elements[folder], s.folder) {
			continue
		}
		file, inXian := strings.CutPrefix(strings.Join(elements[folder+1:], "/"), "xian2017/")
		if slices.Contains(releaseFiles, file) || slices.Contains(optionalFiles, file) || !inXian && slices.Contains(s.meta, file) {
			return file
		}
		return ""
	}
	return ""
}
