package download

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/lago-train/lago-train/dataset/fetch/internal/durable"
	"github.com/lago-train/lago-train/internal/atomicfile"
)

// part is what was downloaded so far.
type part struct {
	file *os.File
	size int64 // bytes in the file
	state
}

// state is what must be known to go on in a later process.
type state struct {
	URL       string `json:"url"`
	Validator string `json:"validator"` // ETag or Last-Modified; empty where the file can't be told from another
	Total     int64  `json:"total"`     // bytes of the whole file, -1 where unknown
}

// openPart opens the part of a download to path. What is there of it remains only
// if it is known to be of this address and to have a validator.
func openPart(path, url string) (*part, error) {
	f, err := os.OpenFile(path+".part", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	p := &part{file: f, state: state{URL: url, Total: -1}}
	if err := p.load(url); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

func (p *part) load(url string) error {
	size, err := p.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(p.statePath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var s state
	known := err == nil && json.Unmarshal(content, &s) == nil
	if !known || s.URL != url || s.Validator == "" || (s.Total >= 0 && size > s.Total) {
		return p.empty()
	}
	p.size, p.state = size, s
	return nil
}

func (p *part) statePath() string { return p.file.Name() + ".json" }

// whole says that nothing is left to be downloaded.
func (p *part) whole() bool { return p.size == p.Total }

// resumable says that the rest alone can be asked for.
func (p *part) resumable() bool { return p.size > 0 && p.Validator != "" }

// empty drops what is there.
func (p *part) empty() error {
	p.size, p.Validator, p.Total = 0, "", -1
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	_, err := p.file.Seek(0, io.SeekStart)
	return err
}

// restart empties the part for a file with a validator and a length. A process that
// dies in between leaves an empty part, of which nothing can be taken for the other
// file's.
func (p *part) restart(validator string, total int64) error {
	if err := p.empty(); err != nil {
		return err
	}
	p.Validator, p.Total = validator, total
	return atomicfile.Write(p.statePath(), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(p.state)
	})
}

func (p *part) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.size += int64(n)
	return n, err
}

// place makes the part the file at path.
func (p *part) place(path string) error {
	if err := errors.Join(p.file.Sync(), p.file.Close()); err != nil {
		return err
	}
	if err := durable.Rename(p.file.Name(), path); err != nil {
		return err
	}
	if err := os.Remove(p.statePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
