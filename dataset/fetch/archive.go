package fetch

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The files of a data set's folder, as package xlsa17 reads them.
var (
	releaseFiles = []string{
		"res101.mat", "att_splits.mat", "trainclasses1.txt", "valclasses1.txt", "trainvalclasses.txt",
		"testclasses.txt",
	}
	optionalFiles = []string{
		"allclasses.txt", "trainclasses2.txt", "valclasses2.txt", "trainclasses3.txt", "valclasses3.txt",
	}
	metaFiles = []string{
		"meta/attribute_names_with_semantic_group.txt", "meta/class_descriptions_by_attributes.txt",
		"meta/classes.txt",
	}
)

// errArchive is wrapped by the errors whose cause is the content of an archive.
var errArchive = errors.New("the archive is damaged or unsafe")

const otherAddress = "dataset fetch --help names another address."

func (f *fetcher) unpackAll(ctx context.Context, staging string) (archives []Archive, err error) {
	meta := metaFiles
	if f.name == "sun" { // its descriptions are in the order of the release, not of its list of classes
		meta = metaFiles[:2]
	}
	for _, from := range []struct {
		what, source, sum string
		required, more    []string
	}{
		{"features", f.ArchiveURL, f.SHA256, releaseFiles, slices.Concat(optionalFiles, meta)},
		{"meta files", f.MetaURL, "", meta, nil},
	} {
		missing := f.missing(from.required)
		if len(missing) == 0 {
			continue
		}
		a, err := f.get(ctx, from.what, from.source, filepath.Join(f.DownloadDir, f.cacheName(from.source)),
			from.sum)
		if err != nil {
			return nil, err
		}
		archives = append(archives, a)
		err = f.unpack(ctx, a.File, staging, append(missing, from.more...))
		if errors.Is(err, errArchive) && a.File != a.Source {
			// It would fail again, and another download may not.
			hint := "It was downloaded from " + a.Source + " and has been removed. " + otherAddress
			return nil, errors.Join(&invalid.Error{Err: err, Hint: hint}, os.Remove(a.File))
		}
		if err != nil {
			return nil, err
		}
		if missing := f.missing(from.required); len(missing) > 0 {
			return nil, &invalid.Error{
				Where: a.Source, Want: "the files of " + f.folder + " in a folder of that name",
				Got: "none named " + strings.Join(missing, ", "), Hint: otherAddress,
			}
		}
	}
	return archives, nil
}

// missing returns those of the files that were not unpacked yet.
func (f *fetcher) missing(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		_, exists := f.sizes[file]
		return exists
	})
}

// cacheName returns the file name for an address: readable, and different for files of
// the same name elsewhere.
func (f *fetcher) cacheName(source string) string {
	name := "archive"
	if u, _ := f.address(source); u != nil {
		source = u.Redacted()
		if path.Ext(u.Path) == ".zip" {
			name = strings.TrimSuffix(path.Base(u.Path), ".zip")
		}
	}
	sum := sha256.Sum256([]byte(source))
	return fmt.Sprintf("%s-%x.zip", name, sum[:6])
}

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
func (f *fetcher) choose(file io.ReaderAt, size int64,
	wanted []string,
) (chosen map[string]*zip.File, total int64, err error) {
	r, err := zip.NewReader(file, size)
	if errors.Is(err, zip.ErrFormat) {
		begin := make([]byte, fileio.FormatBytes)
		n, _ := file.ReadAt(begin, 0) // of a shorter file, all
		return nil, 0, &invalid.Error{
			Want: "a ZIP archive", Got: cmp.Or(fileio.FormatOf(begin[:n]).Name, "another format"),
		}
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, 0, err
	}
	chosen = make(map[string]*zip.File)
	for _, e := range r.File {
		name := f.fileOf(e.Name, wanted)
		if name == "" {
			continue
		}
		bad := &invalid.Error{Field: fmt.Sprintf("entry %.100q", e.Name)} // of any length and characters
		switch most := uint64(f.maxBytes - total); {
		case chosen[name] != nil:
			bad.Want, bad.Got = "one entry for "+name, "another one before it"
		case !e.Mode().IsRegular() || e.Flags&1 != 0:
			bad.Want, bad.Got = "a regular file that is not encrypted", "mode "+e.Mode().String()
		case e.UncompressedSize64 > most:
			bad.Want, bad.Got = fmt.Sprintf("at most %d more bytes", most), fmt.Sprint(e.UncompressedSize64)
		}
		if bad.Want != "" {
			return nil, 0, bad
		}
		chosen[name] = e
		total += int64(e.UncompressedSize64)
	}
	return chosen, total, nil
}

// fileOf returns which of the wanted files an entry of an archive is, or "". It is in a folder named like the
// data set; in the LAGO data archive, the files of the release are in xian2017 below that.
func (f *fetcher) fileOf(entry string, wanted []string) string {
	for _, file := range wanted {
		folder, found := strings.CutSuffix(entry, "/"+file)
		if found && strings.EqualFold(path.Base(strings.TrimSuffix(folder, "/xian2017")), f.folder) {
			return file
		}
	}
	return ""
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
