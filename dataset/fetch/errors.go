package fetch

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/lago-train/lago-train/dataset/fetch/internal/download"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Exists says that there is a folder of the data set already, and that nothing was
// done.
type Exists struct{ Folder string }

func (e *Exists) Error() string {
	return fmt.Sprintf("%s is there already; --force replaces it, with all that it holds", e.Folder)
}

// Cancelled says that a fetch was ended from outside, and that the same call goes on
// from where it is.
type Cancelled struct {
	Name string // of the data set
	Part string // holds what is there of a download; empty where none was in work
	Done int64  // bytes of it
	Err  error  // that of the context
}

func (c *Cancelled) Error() string {
	var kept string
	if c.Part != "" {
		kept = fmt.Sprintf("; %s are kept in %s", format.Bytes(c.Done), c.Part)
	}
	return fmt.Sprintf("stopped fetching %s%s; the same command goes on from there", c.Name, kept)
}

func (c *Cancelled) Unwrap() error { return c.Err }

// cancelled is the error of a fetch that a context ended.
func (s source) cancelled(err, because error) error {
	c := &Cancelled{Name: s.name(), Err: because}
	if d := (*download.Error)(nil); errors.As(err, &d) {
		c.Part, c.Done = d.Part, d.Done
	}
	return c
}

// incomplete says what an archive doesn't have of a data set.
func (s source) incomplete(address string, lacks []string) error {
	return &invalid.Error{
		Where: address,
		Want:  "the files of " + s.folder + " in a folder of that name",
		Got:   "none named " + strings.Join(lacks, ", "),
	}
}

// elsewhere tells, after an error with one of the addresses that are built in, where
// else the files are. Whoever gave an address knows where it is from, and a full
// disk is nobody's fault.
func elsewhere(err error, builtIn bool) error {
	if !builtIn || errors.As(err, new(*fs.PathError)) {
		return err
	}
	return fmt.Errorf("%w\nThe data archive of the authors of LAGO has all of it as well (about 500 MB):\n  --archive-url %s", err, LAGOURL)
}
