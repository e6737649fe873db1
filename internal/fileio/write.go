package fileio

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/lago-train/lago-train/internal/invalid"
)

// Write calls write with a buffered writer and puts what it wrote at path, in place of any file there. The
// folder must exist. When Write returns nil, content and name are on disk; when it fails, the earlier file
// remains, unless the error is that of syncing the folder, which comes after the rename.
//
// Symbolic links to files are followed, and a file keeps its permissions. Devices and named pipes
// are written through as the bytes come, without any of these promises.
//
// The bytes go first to a hidden file beside path. Write also removes what killed processes left
// in the folder.
func Write(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = replace(path, nil, write, os.Rename)
	case err != nil:
	case info.IsDir():
		err = syscall.EISDIR
	case info.Mode().IsRegular():
		var target string
		if target, err = filepath.EvalSymlinks(path); err == nil {
			err = replace(target, info, write, os.Rename)
		}
	default:
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			err = errors.Join(buffered(f, write), f.Close())
		}
	}
	return ofFile(path, err)
}

// WriteNew is Write for a file that must not exist. Of several writers at a time one succeeds.
func WriteNew(path string, write func(io.Writer) error) error {
	return ofFile(path, replace(path, nil, write, os.Link)) // which fails if the path exists
}

// ofFile returns the error of writing a file. One that names another place, such as the input of the
// caller, is not one of the file.
func ofFile(path string, err error) error {
	if named := (*invalid.Error)(nil); err == nil || errors.As(err, &named) && named.Where != "" {
		return err
	}
	return invalid.File(path, err)
}

// WriteCSV writes rows as CSV, as Write does.
func WriteCSV(path string, rows [][]string) error {
	return Write(path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

// replace writes a temporary file, and gives it its name by os.Rename or os.Link. old is the file that
// is there, if any.
func replace(path string, old fs.FileInfo, write func(io.Writer) error,
	name func(from, to string) error,
) (err error) {
	f, lock, err := createTemporary(path, old)
	if err != nil {
		return err
	}
	// Deferred, so that a panic in write leaves nothing behind either.
	defer func() {
		_ = errors.Join(f.Close(), lock.Close()) // it has its other name on disk, or is of no use any more
		if failed := os.Remove(f.Name()); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}()
	if err := buffered(f, write); err != nil {
		return err
	}
	err = f.Sync()
	if err == nil && runtime.GOOS == "windows" { // which renames no file that is open
		err = f.Close()
	}
	if err == nil {
		err = name(f.Name(), path)
	}
	if err == nil {
		err = SyncFolder(filepath.Dir(path))
	}
	return err
}

func buffered(f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(f, bufferSize)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// Rename moves a file or folder within a file system and returns when its new name is
// on disk. The content must have been synced.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return errors.Join(SyncFolder(filepath.Dir(to)), SyncFolder(filepath.Dir(from)))
}

// SyncFolder waits until the names in a folder are on disk. On Windows, which has no such
// call, it does nothing.
func SyncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// createTemporary makes a hidden file beside a path, with the permissions of the old file, and locks it, so
// that no other process takes it for abandoned. Unlike os.CreateTemp it leaves the permissions of a new file
// to the umask.
func createTemporary(path string, old fs.FileInfo) (*os.File, *flock.Flock, error) {
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = old.Mode().Perm()
	}
	dir, base := filepath.Split(path)
	removeAbandoned(dir)
	for {
		name := fmt.Sprintf("%s.%s.%016x.tmp", dir, base, rand.Uint64())
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if err == nil && old != nil {
			err = f.Chmod(perm) // whatever the umask is
		}
		if err != nil {
			if f != nil {
				err = errors.Join(err, f.Close(), os.Remove(name))
			}
			return nil, nil, err
		}
		lock := temporaryLock(name)
		free, err := tryLock(lock)
		// Another process may have locked and removed it before.
		if _, removed := os.Lstat(name); removed == nil && (free || err != nil) {
			return f, lock, nil
		}
		if err := errors.Join(f.Close(), lock.Close()); err != nil {
			return nil, nil, err
		}
	}
}

// IsFolder reports whether there is a folder at path.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// temporary matches the names that createTemporary gives.
var temporary = regexp.MustCompile(`^\..+\.[0-9a-f]{16}\.tmp$`)

// temporaryLock is the lock of a temporary file, which it does not create.
func temporaryLock(name string) *flock.Flock { return flock.New(name, flock.SetFlag(os.O_RDONLY)) }

// tryLock reports whether a temporary file was locked. The error is that of a file system without locks. On
// Windows, where nobody else could write to a locked file, none is.
func tryLock(lock *flock.Flock) (bool, error) {
	if runtime.GOOS == "windows" {
		return false, errors.ErrUnsupported
	}
	return lock.TryLock()
}

// removeAbandoned removes the temporary files in a folder whose writers were killed, which are
// those without a lock. They stay in a folder that cannot be read and on a file system without locks.
func removeAbandoned(dir string) {
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	for _, e := range entries {
		if !e.Type().IsRegular() || !temporary.MatchString(e.Name()) {
			continue
		}
		lock := temporaryLock(filepath.Join(dir, e.Name()))
		if free, _ := tryLock(lock); free {
			_ = os.Remove(lock.Path()) // another process may have done it, or given it another name
		}
		_ = lock.Close()
	}
}

// Lock locks a file that stays: for the caller alone, or for all that share it. While another process has the
// lock, it calls waiting once and waits; the system frees the lock of a process that dies.
func Lock(ctx context.Context, path string, shared bool, waiting func()) (*flock.Flock, error) {
	if _, err := SizeOfRegular(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // opening a named pipe would block
	}
	lock := flock.New(path, flock.SetPermissions(0o666)) // less the umask
	try, wait := lock.TryLock, lock.TryLockContext
	if shared {
		try, wait = lock.TryRLock, lock.TryRLockContext
	}
	held, err := try()
	if err == nil && !held {
		waiting()
		_, err = wait(ctx, 200*time.Millisecond)
	}
	return lock, err
}

// Outputs writes the files that a user asks for. It replaces no file that this process has read and, unless
// it is forced, no file but what it can see to be an earlier output of the same kind.
type Outputs struct {
	Force   bool
	Written []string
}

// inputs are the regular files that this process has opened for reading, by their paths.
var inputs struct {
	sync.Mutex
	files map[string]fs.FileInfo
}

func addInput(path string, file fs.FileInfo) {
	inputs.Lock()
	defer inputs.Unlock()
	if inputs.files == nil {
		inputs.files = map[string]fs.FileInfo{}
	}
	inputs.files[path] = file
}

// Check returns an error if a file to write is one that was read, by whatever path.
func (o *Outputs) Check(path string) error {
	written, err := os.Stat(path)
	if err != nil {
		return nil
	}
	inputs.Lock()
	defer inputs.Unlock()
	for _, read := range inputs.files {
		// a system gives the number of a deleted file to another
		if os.SameFile(read, written) && read.ModTime().Equal(written.ModTime()) {
			return &invalid.Error{
				Where: path, Want: "a file that the command does not read", Got: "an input",
				Hint: "Choose another name.", Usage: true,
			}
		}
	}
	return nil
}

// Write writes a file as the function Write does, unless its name is "".
func (o *Outputs) Write(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	if err := o.Check(path); err != nil {
		return err
	}
	err := Write(path, func(w io.Writer) error {
		begin := &beginning{Writer: w}
		if err := write(begin); err != nil {
			return err
		}
		return cmp.Or(o.Check(path), o.checkKind(path, begin.bytes)) // what was read while writing, too
	})
	if err == nil {
		o.Written = append(o.Written, path)
	}
	return err
}

// Writer writes a file as Outputs.Write does.
type Writer = func(path string, write func(io.Writer) error) error

// All writes several files. It calls files first without writing any: if one is refused, all are.
func (o *Outputs) All(files func(Writer) error) error {
	err := files(func(path string, write func(io.Writer) error) error {
		begin := &beginning{Writer: io.Discard}
		if err := cmp.Or(o.Check(path), write(begin)); err != nil {
			return err
		}
		return o.checkKind(path, begin.bytes)
	})
	if err != nil {
		return err
	}
	return files(o.Write)
}

// checkKind returns an error if a file is there that is not of the kind of one that begins with begin.
func (o *Outputs) checkKind(path string, begin []byte) error {
	info, err := os.Stat(path)
	switch {
	case err != nil || o.Force || !info.Mode().IsRegular():
		return nil
	case info.Size() == 0, sameKind(beginOf(path), begin):
		return nil
	}
	return &invalid.Error{
		Where: path, Want: "a new file, or an earlier output of the same kind", Got: "another file",
		Hint: "Choose another name, or replace it with --force.", Usage: true,
	}
}

// CheckFile returns an error if a file cannot be written, now rather than after hours: if it is a folder, its
// folder does not exist, it was read, or it is another file than those that begin with a text.
func (o *Outputs) CheckFile(file, begin string) error {
	if file == "" {
		return nil
	}
	switch info, err := os.Stat(file); {
	case err == nil && info.IsDir():
		return invalid.File(file, syscall.EISDIR)
	case err == nil && begin != "":
		return cmp.Or(o.Check(file), o.checkKind(file, []byte(begin)))
	case err == nil:
		return o.Check(file)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return invalid.File(file, err)
	}
	dir := filepath.Dir(file) // "." without a file
	_, err := os.Stat(dir + string(filepath.Separator))
	return invalid.File(file, err)
}

// WriteRows writes a CSV file.
func (o *Outputs) WriteRows(file string, rows [][]string) error {
	return o.Write(file, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

type beginning struct {
	io.Writer
	bytes []byte
}

const beginBytes = 1 << 12

func (b *beginning) Write(p []byte) (int, error) {
	b.bytes = append(b.bytes, p[:min(len(p), beginBytes-len(b.bytes))]...)
	return b.Writer.Write(p)
}

func beginOf(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it is only read
	begin, _ := io.ReadAll(io.LimitReader(f, beginBytes))
	return begin
}

var (
	generator = regexp.MustCompile(`<meta name="generator" content="lago-train \w+">|` +
		`<!-- Generated by SVGo and Plotinum VG -->`)
	sentence  = regexp.MustCompile(`\A[^\n]+ is predicted as `)
	firstKeys = regexp.MustCompile(`^\{\s*"(\w+)":[^,]*,\s*"(\w+)"`)
)

// sameKind reports whether a file, of which begin is the beginning, can be seen to be an earlier output of
// the kind of another one: a page or a picture by its generator, JSON by its first keys, CSV by the first and
// most of the other columns, an explanation by its first sentence, and other text by its first word.
func sameKind(begin, other []byte) bool {
	if bytes.HasPrefix(other, []byte("<")) {
		mark := generator.Find(other)
		return mark != nil && bytes.Equal(mark, generator.Find(begin))
	}
	if sentence.Match(other) {
		return sentence.Match(begin)
	}
	if keys := firstKeys.FindSubmatch(other); keys != nil {
		old := firstKeys.FindSubmatch(begin)
		return old != nil && bytes.Equal(old[1], keys[1]) && bytes.Equal(old[2], keys[2])
	}
	if bytes.ContainsAny(other, "\x00\x89") {
		return false
	}
	header := func(text []byte) []string {
		line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		if !strings.Contains(line, ",") {
			line, _, _ = strings.Cut(line, " ")
		}
		return strings.Split(strings.TrimSpace(line), ",")
	}
	old, columns := header(begin), header(other)
	shared := 0
	for _, c := range columns {
		if strings.Contains(","+strings.Join(old, ",")+",", ","+c+",") {
			shared++
		}
	}
	return old[0] == columns[0] && (len(old) > 1) == (len(columns) > 1) && 2*shared > len(columns)
}
