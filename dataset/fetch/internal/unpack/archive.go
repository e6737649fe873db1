package unpack

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/lago-train/lago-train/internal/invalid"
)

// ErrArchive says that an archive is damaged or hostile: to unpack it again would
// end in the same way, to download it again might not.
var ErrArchive = errors.New("the archive is not to be used")

// archive is a zip file, open for reading.
type archive struct {
	path  string
	size  int64
	file  *os.File
	names *zip.Reader
}

// open reads the directory of an archive.
func open(path string, limits Limits) (*archive, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	a := &archive{path: path, file: f}
	if err := a.readDirectory(limits); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return a, nil
}

func (a *archive) readDirectory(limits Limits) error {
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	a.size = info.Size()
	metered := &meteredReader{r: a.file, left: int64(limits.Entries)*directoryBytesPerEntry + endBytes}
	a.names, err = zip.NewReader(metered, a.size)
	switch {
	case metered.exceeded:
		return a.refuse("", fmt.Sprintf("a directory of at most %d entries", limits.Entries), "a longer one")
	case errors.Is(err, zip.ErrInsecurePath): // names are looked at in the choice
	case err != nil:
		return a.damaged("", err)
	}
	if n := len(a.names.File); n > limits.Entries {
		return a.refuse("", fmt.Sprintf("at most %d entries", limits.Entries), fmt.Sprint(n))
	}
	metered.left = -1
	return nil
}

func (a *archive) Close() error { return a.file.Close() }

// refuse is the error of an archive that has what it must not have.
func (a *archive) refuse(entry, want, got string) error {
	return a.errorOf(entry, want, got, ErrArchive)
}

// damaged is the error of an archive that doesn't read, unless the system is to
// blame.
func (a *archive) damaged(entry string, err error) error {
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		return err
	}
	return a.errorOf(entry, "", "", fmt.Errorf("%w: %w", ErrArchive, err))
}

func (a *archive) errorOf(entry, want, got string, err error) error {
	e := &invalid.Error{Where: a.path, Want: want, Got: got, Err: err}
	if entry != "" {
		// Quoted, for what an archive names may hold any character.
		e.Field = fmt.Sprintf("entry %q", entry)
	}
	return e
}

// meteredReader stops a reader that has read more than it was given; a negative
// rest is no limit.
type meteredReader struct {
	r        io.ReaderAt
	left     int64
	exceeded bool
}

func (m *meteredReader) ReadAt(b []byte, at int64) (int, error) {
	if m.left >= 0 {
		if m.left -= int64(len(b)); m.left < 0 {
			m.left, m.exceeded = 0, true
			return 0, errors.New("the directory is too long")
		}
	}
	return m.r.ReadAt(b, at)
}
