package unpack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/lago-train/lago-train/internal/atomicfile"
)

// File is one that was written.
type File struct {
	Name  string // path below the folder, with slashes
	Bytes int64
}

const bufferSize = 1 << 18

// Files writes the entries of the zip archive at a path that are picked into a
// folder, which must exist and have none of them, and returns them in the order of
// the archive. Content and names are on disk when the error is nil. An error that
// lies in the archive is a *invalid.Error that wraps ErrArchive.
func Files(ctx context.Context, archive, dir string, pick Pick, o Options) (files []File, err error) {
	o = o.withDefaults()
	a, err := open(archive, o.Limits)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	entries, err := a.choose(pick, o.Limits)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	w := &writer{archive: a, root: root, progress: o.Progress}
	for _, e := range entries {
		w.total += int64(e.UncompressedSize64)
	}
	for _, e := range entries {
		if err := w.write(ctx, e); err != nil {
			return nil, err
		}
		files = append(files, File{Name: e.as, Bytes: int64(e.UncompressedSize64)})
	}
	return files, w.syncFolders(dir, files)
}

// writer writes entries below a folder.
type writer struct {
	archive     *archive
	root        *os.Root
	done, total int64
	progress    func(done, total int64)
}

func (w *writer) write(ctx context.Context, e chosen) (err error) {
	if err := w.root.MkdirAll(path.Dir(e.as), 0o777); err != nil {
		return err
	}
	// Exclusive, so that on a system where two names are one file, neither wins.
	to, err := w.root.OpenFile(e.as, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	from, err := e.Open()
	if err != nil {
		return w.archive.damaged(e.Name, err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if err := w.copy(ctx, to, from, e); err != nil {
		return err
	}
	return to.Sync()
}

// copy writes as many bytes as were declared, and takes more for a lie (as archive/zip
// does, which doesn't promise it). The reader compares the checksum at the end.
func (w *writer) copy(ctx context.Context, to io.Writer, from io.Reader, e chosen) error {
	buffer := make([]byte, bufferSize)
	for left := int64(e.UncompressedSize64); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := from.Read(buffer)
		if left -= int64(n); left < 0 {
			return w.archive.refuse(e.Name, fmt.Sprintf("%d bytes, as declared", e.UncompressedSize64), "more")
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return err
		}
		w.done += int64(n)
		w.progress(w.done, w.total)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return w.archive.damaged(e.Name, err)
		}
	}
}

// syncFolders makes the names of the files last, from the deepest folder up.
func (w *writer) syncFolders(dir string, files []File) error {
	synced := make(map[string]bool)
	for _, f := range files {
		for folder := path.Dir(f.Name); folder != "." && !synced[folder]; folder = path.Dir(folder) {
			synced[folder] = true
			if err := atomicfile.SyncFolder(filepath.Join(dir, filepath.FromSlash(folder))); err != nil {
				return err
			}
		}
	}
	return atomicfile.SyncFolder(dir)
}
