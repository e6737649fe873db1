package fetch

import (
	"os"
	"path/filepath"
	"time"

	"github.com/lago-train/lago-train/dataset/fetch/internal/download"
)

// Options say what is fetched from where. The zero value of each is ready to use,
// but for DataDir.
type Options struct {
	// DataDir gets the folder of the data set. It is made where it isn't there.
	DataDir string
	// ArchiveURL is the http or https address of an archive in the layout of XianURL
	// or LAGOURL, or the path of one on disk; empty means XianURL.
	ArchiveURL string
	// MetaURL is that of an archive with the meta folder; empty means the constant of
	// that name. It isn't used where the other archive has the files.
	MetaURL string
	// SHA256 is the checksum that the first archive must have, in hex; empty means that
	// it may have any. None is known of the built-in addresses.
	SHA256 string
	// DownloadDir keeps archives; empty means lago-train/downloads in the user's cache
	// folder.
	DownloadDir string
	// DeleteArchives removes the archives that were downloaded once the data set is
	// there.
	DeleteArchives bool
	// Force replaces a folder of the data set that is there, with all that it holds.
	Force bool

	// Attempts, Backoff and Stall say how patient a download is: how many attempts in
	// a row may gain nothing (0 for 6), how long to wait after each (nil for 1 s,
	// doubled up to 30), and how long a server may be silent (0 for 30 s).
	Attempts int
	Backoff  func(failures int) time.Duration
	Stall    time.Duration

	// Progress is told how far it is, often; nil tells nobody.
	Progress func(Progress)
	// Notice is told what a user may want to know, in a sentence; nil tells nobody.
	Notice func(text string)
}

// Progress is how far a step is.
type Progress struct {
	Step        string // as in "downloading features"
	Done, Total int64  // bytes; Total is -1 where it is unknown
}

func (o Options) withDefaults() (Options, error) {
	if o.ArchiveURL == "" {
		o.ArchiveURL = XianURL
	}
	if o.MetaURL == "" {
		o.MetaURL = MetaURL
	}
	if o.DownloadDir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return o, err
		}
		o.DownloadDir = filepath.Join(user, "lago-train", "downloads")
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	return o, nil
}

// step returns a function that tells the progress of a step.
func (o Options) step(name string) func(done, total int64) {
	return func(done, total int64) { o.Progress(Progress{Step: name, Done: done, Total: total}) }
}

func (o Options) download(what string) download.Options {
	return download.Options{
		Attempts: o.Attempts, Backoff: o.Backoff, Stall: o.Stall,
		Progress: o.step("downloading " + what), Notice: o.Notice,
	}
}
