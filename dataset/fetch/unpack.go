package fetch

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// errArchive is wrapped by the errors whose cause is the content of an archive.
var errArchive = errors.New("the archive is damaged or unsafe")

// limits bound what an archive may hold.
type limits struct {
	bytes   int64 // of all files that are unpacked
	ratio   int64 // of a file to its compressed form, and of all files to the archive
	entries int   // unpacked or not
}

// unpacking is one call of unpack.
type unpacking struct {
	path string // of the archive
	size int64
	limits
	files map[string]*zip.File // to unpack, by their path in the folder
	*meter
}

// unpack writes the entries of a zip archive that pick accepts into a folder, at the
// paths that it returns, and adds their sizes to sizes. None of the paths may exist. The
// paths are trusted; nothing else about the archive is.
func unpack(archive, dir string, l limits, sizes map[string]int64, m *meter, pick func(entry string) (file string, ok bool)) (err error) {
	f, size, err := input.OpenRegular(m.ctx, archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing was written
	u := &unpacking{path: archive, size: size, limits: l, files: make(map[string]*zip.File), meter: m}
	entries, err := u.directory(f)
	if err != nil {
		return err
	}
	if m.total, err = u.choose(entries, pick); err != nil {
		return err
	}
	// The system, too, is asked to keep the writes in the folder.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	folders := map[string]bool{dir: true}
	for name, entry := range u.files {
		if err := u.write(root, name, entry); err != nil {
			return err
		}
		sizes[name] = int64(entry.UncompressedSize64)
		folders[filepath.Join(dir, path.Dir(name))] = true
	}
	for folder := range folders {
		if err := atomicfile.SyncFolder(folder); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacking) refuse(entry *zip.File, want, got string, err error) error {
	e := &invalid.Error{Where: u.path, Want: want, Got: got, Err: errArchive}
	if err != nil {
		e.Err = fmt.Errorf("%w: %w", errArchive, err)
	}
	if entry != nil { // whose name may be of any length and characters
		e.Field = fmt.Sprintf("entry %.100q", entry.Name)
	}
	return e
}

// damaged returns the error of reading an archive, which may also be the system's or the
// context's.
func (u *unpacking) damaged(entry *zip.File, err error) error {
	if u.ctx.Err() != nil {
		return u.ctx.Err()
	}
	if errors.As(err, new(*fs.PathError)) {
		return err
	}
	return u.refuse(entry, "", "", err)
}

// directory returns the entries of the archive.
func (u *unpacking) directory(f io.ReaderAt) ([]*zip.File, error) {
	// An entry has 46 bytes, its name and a few fields. The directory is found by the last
	// 65 KiB of the archive, in which a comment may precede it.
	bounded := &boundedReader{f, int64(u.entries)*200 + 1<<17, uint64(u.entries)}
	r, err := zip.NewReader(bounded, u.size)
	if err != nil && !errors.Is(err, errLong) && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, u.damaged(nil, err)
	}
	if r == nil || len(r.File) > u.entries {
		return nil, u.refuse(nil, fmt.Sprintf("at most %d entries", u.entries), "more", nil)
	}
	bounded.left, bounded.entries = math.MaxInt64, math.MaxUint64 // the bytes of the files are bounded separately
	return r.File, nil
}

// boundedReader bounds the bytes that are read and the number of entries that the ZIP64
// end of the directory claims, for which package zip allocates memory before it reads
// them. Without ZIP64 the number has 16 bits.
type boundedReader struct {
	file    io.ReaderAt
	left    int64
	entries uint64
}

var errLong = errors.New("the directory is too long")

func (b *boundedReader) ReadAt(p []byte, at int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errLong
	}
	n, err := b.file.ReadAt(p, at)
	if n >= 40 && string(p[:4]) == "PK\x06\x06" && binary.LittleEndian.Uint64(p[32:]) > b.entries {
		return 0, errLong
	}
	return n, err
}

// choose selects the entries to unpack and returns their size in all. It checks all
// that can be checked before they are read.
func (u *unpacking) choose(entries []*zip.File, pick func(string) (string, bool)) (total int64, err error) {
	for _, e := range entries {
		// Even if the entry is not wanted, such a name says what the archive is.
		if leaves(e.Name) {
			return 0, u.refuse(e, "a path inside of the archive's folder", "one that leaves it", nil)
		}
		name, ok := pick(e.Name)
		if !ok {
			continue
		}
		size, compressed := e.UncompressedSize64, e.CompressedSize64
		var want, got string
		switch {
		case u.files[name] != nil:
			want, got = "one entry for "+name, "another one before it"
		case !e.Mode().IsRegular():
			want, got = "a regular file", "mode "+e.Mode().String()
		case e.Flags&1 != 0:
			want, got = "a file that is not encrypted", "an encrypted one"
		case size > uint64(u.bytes-total):
			want, got = fmt.Sprintf("at most %d bytes in all", u.bytes), fmt.Sprintf("%d more", size)
		case compressed > uint64(u.size):
			want, got = fmt.Sprintf("compressed bytes within the archive's %d", u.size), fmt.Sprint(compressed)
		case size > uint64(u.ratio)*compressed:
			want, got = fmt.Sprintf("at most %d times its %d compressed bytes", u.ratio, compressed), fmt.Sprint(size)
		}
		if want != "" {
			return 0, u.refuse(e, want, got, nil)
		}
		total += int64(size)
		u.files[name] = e
	}
	// Entries that share compressed bytes pass the check of each one's ratio.
	if total/u.ratio > u.size {
		return 0, u.refuse(nil, fmt.Sprintf("at most %d times the archive's %d bytes", u.ratio, u.size), fmt.Sprint(total), nil)
	}
	return total, nil
}

// leaves reports whether a name leads out of its folder on any system: by "..", a root,
// a drive or a NUL.
func leaves(name string) bool {
	p := "/" + strings.ReplaceAll(name, `\`, "/") + "/"
	drive := len(name) > 1 && name[1] == ':'
	return strings.HasPrefix(p, "//") || strings.Contains(p, "/../") || strings.Contains(p, "\x00") || drive
}

// write writes one file and syncs it. The zip reader compares size and checksum, and
// returns no bytes beyond the declared size.
func (u *unpacking) write(root *os.Root, name string, e *zip.File) (err error) {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	to, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	from, err := e.Open()
	if err != nil {
		return u.damaged(e, err)
	}
	defer func() { _ = from.Close() }() // nothing was written
	if _, err := io.Copy(io.MultiWriter(u, to), from); err != nil {
		return u.damaged(e, err)
	}
	return to.Sync()
}
