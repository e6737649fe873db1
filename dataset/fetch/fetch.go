package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Options configure a fetch. Only DataDir must be set.
type Options struct {
	// DataDir gets the folder of the data set. It is created if needed.
	DataDir string
	// ArchiveURL is the http or https address, or the path, of an archive in the layout
	// of XianURL or LAGOURL, or of the weights of a network; empty means XianURL, or where
	// the weights are published.
	ArchiveURL string
	// MetaURL is the same of an archive with the meta folder; empty means the constant
	// of that name. It is not used if the other archive has these files.
	MetaURL string
	// SHA256 is the checksum that the first archive, or the weights, must have, in hex; empty
	// accepts any. None was published for the built-in addresses.
	SHA256 string
	// DownloadDir keeps archives; empty means lago-train/downloads in the user's cache
	// folder.
	DownloadDir string
	// DeleteArchives removes the downloaded archives once the data set is complete.
	DeleteArchives bool
	// Force replaces an existing folder of the data set and everything in it, or file of
	// weights.
	Force bool

	// Attempts is the number of consecutive attempts that may download less than a
	// megabyte before a download is given up; 0 means 6.
	Attempts int
	// Stall is how long a server may send nothing; 0 means 30 s. A download as a whole has
	// no time limit.
	Stall time.Duration

	// Progress is called often; nil ignores it.
	Progress func(Progress)
	// Notice is called with sentences for the log, such as that a download is resumed; nil
	// ignores them.
	Notice func(text string)

	pause    time.Duration // before the second attempt; each later one waits twice as long
	maxBytes int64         // of a download
	limits   limits        // of what an archive expands to
}

// Progress is how far a step is.
type Progress struct {
	Step        string // such as "downloading features"
	Done, Total int64  // bytes; Total is -1 if unknown
}

// Result describes a fetched data set, or the weights of a network.
type Result struct {
	Name     string    `json:"name"`   // in lower case
	Folder   string    `json:"folder"` // that holds the files, as an absolute path
	Files    []string  `json:"files"`  // paths below the folder, with slashes, sorted
	Bytes    int64     `json:"bytes"`  // of the files
	Archives []Archive `json:"archives"`
}

// Archive is a downloaded file: an archive that files of a data set came from, or weights.
type Archive struct {
	Source     string `json:"source"` // address without password, or path, as it was given
	File       string `json:"file"`   // path
	Bytes      int64  `json:"bytes"`
	SHA256     string `json:"sha256"`     // in hex
	Downloaded bool   `json:"downloaded"` // by this call, not an earlier one
	Kept       bool   `json:"kept"`       // still exists
}

// Fetch downloads one of the data sets of Names to a folder of that name below the data
// dir, or the weights of one of Networks, from o.ArchiveURL, to a file there. If there is
// one already, that is an error unless o.Force is set. If ctx ends the
// fetch, the error wraps that of ctx. After any error, the same call resumes with what
// was downloaded.
func Fetch(ctx context.Context, name string, o Options) (*Result, error) {
	network := strings.ToLower(name)
	address, isNetwork := weights[network]
	o.ArchiveURL = cmp.Or(o.ArchiveURL, address)
	f := &fetcher{sizes: make(map[string]int64)}
	var err error
	if !isNetwork {
		if f.source, err = sourceOf(name); err != nil {
			return nil, err
		}
	}
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	f.Options = o
	work := f.run
	if isNetwork {
		work = func(ctx context.Context) (*Result, error) { return f.fetchWeights(ctx, network) }
	}
	r, err := f.locked(ctx, work)
	if err != nil && ctx.Err() != nil {
		return nil, &interrupted{ctx.Err(), cmp.Or(f.kept, "The same command resumes the work.")}
	}
	return r, readable(err)
}

// interrupted is the error of a fetch that its context ended.
type interrupted struct {
	error
	hint string
}

func (i *interrupted) Error() string { return "interrupted. " + i.hint }
func (i *interrupted) Unwrap() error { return i.error }

// readable returns an error of the system as one that begins with the path.
func readable(err error) error {
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		return invalid.File(system.Path, err)
	}
	if system := (*os.LinkError)(nil); errors.As(err, &system) {
		return invalid.File(system.New, err)
	}
	return err
}

func (o *Options) setDefaults() (err error) {
	if sum, err := hex.DecodeString(o.SHA256); err != nil || len(sum) != sha256.Size && o.SHA256 != "" {
		return &invalid.Error{Where: "--sha256", Want: "64 hexadecimal digits", Got: fmt.Sprintf("%q", o.SHA256)}
	}
	if o.DataDir, err = filepath.Abs(o.DataDir); err != nil {
		return err
	}
	if o.DownloadDir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return &invalid.Error{Where: "download dir", Err: err, Hint: "Give a folder with --download-dir."}
		}
		o.DownloadDir = filepath.Join(user, "lago-train", "downloads")
	}
	o.ArchiveURL = cmp.Or(o.ArchiveURL, XianURL)
	o.MetaURL = cmp.Or(o.MetaURL, MetaURL)
	for flag, source := range map[string]string{"--archive-url": o.ArchiveURL, "--meta-url": o.MetaURL} {
		if err := checkAddress(flag, source); err != nil {
			return err
		}
	}
	o.Attempts = cmp.Or(o.Attempts, 6)
	o.Stall = cmp.Or(o.Stall, 30*time.Second)
	o.pause = cmp.Or(o.pause, time.Second)
	o.maxBytes = cmp.Or(o.maxBytes, 16<<30)
	o.limits = cmp.Or(o.limits, limits{bytes: 8 << 30, ratio: 200, entries: 100_000})
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	return nil
}

// fetcher is one call of Fetch.
type fetcher struct {
	Options
	source
	archives []*archive
	sizes    map[string]int64 // of the files that were unpacked, by path below the folder
	kept     string           // describes what a failed download leaves, for the hint
}

// locked does work with the data dir locked, which it creates if needed.
func (f *fetcher) locked(ctx context.Context, work func(context.Context) (*Result, error)) (r *Result, err error) {
	if err := os.MkdirAll(f.DataDir, 0o777); err != nil {
		return nil, err
	}
	lock, err := f.lock(ctx, filepath.Join(f.DataDir, ".fetch.lock"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return work(ctx)
}

// run fetches a data set.
func (f *fetcher) run(ctx context.Context) (r *Result, err error) {
	target, exists, err := f.target()
	if err != nil {
		return nil, err
	}
	if exists && !f.Force {
		return nil, existing(target, "a folder", "--force replaces it and everything in it.")
	}
	staging := filepath.Join(f.DataDir, "."+f.folder+".unpacking")
	if err := os.RemoveAll(staging); err != nil { // that of a killed process
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	if err := f.unpackAll(ctx, staging); err != nil {
		return nil, err
	}
	if err := f.place(staging, target, exists); err != nil {
		return nil, err
	}
	return f.result(target)
}

func existing(path, what, hint string) error {
	return &invalid.Error{Where: path, Got: what + " that exists already", Hint: hint}
}

// unpackAll unpacks the archives into a folder that does not exist yet.
func (f *fetcher) unpackAll(ctx context.Context, staging string) error {
	release, err := f.archive(ctx, "features", f.ArchiveURL, f.SHA256)
	if err != nil {
		return err
	}
	if err := os.Mkdir(staging, 0o777); err != nil {
		return err
	}
	wanted := slices.Concat(releaseFiles, optionalFiles, f.meta())
	if err := f.unpack(ctx, release, staging, wanted, releaseFiles); err != nil {
		return err
	}
	missing := f.missing(f.meta())
	if len(missing) == 0 {
		return nil
	}
	meta, err := f.archive(ctx, "meta files", f.MetaURL, "")
	if err != nil {
		return err
	}
	return f.unpack(ctx, meta, staging, missing, missing)
}

// unpack takes the wanted files out of an archive, which must have the required ones.
func (f *fetcher) unpack(ctx context.Context, a *archive, dir string, wanted, required []string) error {
	f.archives = append(f.archives, a)
	err := unpack(a.File, dir, f.limits, f.sizes, f.meter(ctx, "unpacking "+f.folder), func(entry string) (string, bool) {
		file, ok := f.fileOf(entry)
		return file, ok && slices.Contains(wanted, file)
	})
	if errors.Is(err, errArchive) && !a.local {
		// It would fail again, and another download may not.
		err = &invalid.Error{Err: err, Hint: hints("It was downloaded from "+a.Source+" and has been removed.", alternative(a.Source))}
		return errors.Join(err, os.Remove(a.File))
	}
	if err != nil {
		return err
	}
	if missing := f.missing(required); len(missing) > 0 {
		return &invalid.Error{
			Where: a.Source,
			Want:  "the files of " + f.folder + " in a folder of that name",
			Got:   "none named " + strings.Join(missing, ", "),
			Hint:  alternative(a.Source),
		}
	}
	return nil
}

// alternative says where else the files of a built-in address are.
func alternative(address string) string {
	if address != XianURL && address != MetaURL {
		return ""
	}
	return "The data archive of the authors of LAGO (about 500 MB) has all files as well: --archive-url " + LAGOURL
}

// hints joins sentences that may be empty.
func hints(sentences ...string) string {
	return strings.TrimSpace(strings.Join(sentences, " "))
}

// missing returns those of the files that were not unpacked yet.
func (f *fetcher) missing(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		_, exists := f.sizes[file]
		return exists
	})
}

// target returns the folder of the data set, which may exist in any case, as package
// catalog finds it.
func (f *fetcher) target() (path string, exists bool, err error) {
	entries, err := os.ReadDir(f.DataDir)
	if err != nil {
		return "", false, err
	}
	found := slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !strings.EqualFold(e.Name(), f.folder) })
	switch len(found) {
	case 0:
		return filepath.Join(f.DataDir, f.folder), false, nil
	case 1:
		return filepath.Join(f.DataDir, found[0].Name()), true, nil
	}
	return "", false, &invalid.Error{Where: f.DataDir, Want: "one folder named " + f.folder, Got: found[0].Name() + " and " + found[1].Name()}
}

// place makes the staged folder the data set's. A kill in the middle of a replacement
// leaves the earlier folder under a hidden name, which the next replacement removes.
func (f *fetcher) place(staging, target string, exists bool) error {
	if !exists {
		return atomicfile.Rename(staging, target)
	}
	replaced := filepath.Join(f.DataDir, "."+f.folder+".replaced")
	if err := os.RemoveAll(replaced); err != nil {
		return err
	}
	if err := atomicfile.Rename(target, replaced); err != nil {
		return err
	}
	if err := atomicfile.Rename(staging, target); err != nil {
		return errors.Join(err, os.Rename(replaced, target))
	}
	return os.RemoveAll(replaced)
}

// result describes the data set, and removes the archives if they are not to be kept.
func (f *fetcher) result(target string) (*Result, error) {
	r := &Result{Name: f.name(), Folder: target, Files: slices.Sorted(maps.Keys(f.sizes))}
	for _, n := range f.sizes {
		r.Bytes += n
	}
	for _, a := range f.archives {
		if f.DeleteArchives && !a.local {
			if err := os.Remove(a.File); err != nil {
				return nil, err
			}
			a.Kept = false
		}
		r.Archives = append(r.Archives, a.Archive)
	}
	return r, nil
}

// lock takes a lock file, which stays in its folder. It waits for a process that has it;
// the system frees the lock of a process that dies.
func (f *fetcher) lock(ctx context.Context, path string) (*flock.Flock, error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	lock := flock.New(path, flock.SetPermissions(0o666)) // less the umask
	held, err := lock.TryLock()
	if err == nil && !held {
		f.Notice("waiting for another process that fetches to " + filepath.Dir(path))
		_, err = lock.TryLockContext(ctx, 200*time.Millisecond)
	}
	return lock, err
}

// checkRegular refuses what is not a regular file, such as a pipe, which could block. A
// path that does not exist is fine.
func checkRegular(path string) error {
	_, err := input.SizeOfRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
