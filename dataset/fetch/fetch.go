// Package fetch downloads the data sets of the paper, CUB, AWA2 and SUN, from where
// they are published, as folders that package xlsa17 reads, and the weights of networks.
//
// Two archives make one data set: the release of Xian et al. has features, descriptions
// and splits, and the repository of the authors of LAGO the groups of the attributes.
// They are kept in a cache folder for the next data set. An interrupted download is
// resumed, in the same process or a later one, if the server can tell that the file is
// still the same (RFC 9110, If-Range).
//
// Archives are not trusted. Only the files of the layout are written, under names of
// this package; what they may expand to is bounded, and sizes and checksums are
// compared. The data set is written atomically.
package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
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
	DataDir        string // gets the folder of the data set; created if needed
	ArchiveURL     string // address, or path, of an archive in the layout of XianURL or LAGOURL, or of weights; empty means the published one
	MetaURL        string // the same of an archive with the meta folder, for what the other archive lacks
	SHA256         string // in hex, that the first archive, or the weights, must have; empty accepts any
	DownloadDir    string // keeps archives; empty means lago-train/downloads in the user's cache folder
	DeleteArchives bool   // removes the downloaded archives once the data set is complete
	Force          bool   // replaces an existing folder of the data set and everything in it, or file of weights

	// Attempts is the number of consecutive attempts that may download less than a
	// megabyte before a download is given up; 0 means 6.
	Attempts int
	// Stall is how long a server may send nothing; 0 means 30 s. A download as a whole has
	// no time limit.
	Stall time.Duration

	Progress func(Progress)    // is called often; nil ignores it
	Notice   func(text string) // gets sentences for the log, such as that a download is resumed; nil ignores them

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
// dir, or the weights of one of Networks to a file there. If there is one already, that is
// an error unless o.Force is set. If ctx ends the fetch, the error wraps that of ctx. After
// any error, the same call resumes with what was downloaded.
func Fetch(ctx context.Context, name string, o Options) (*Result, error) {
	s, err := sourceOf(name)
	if err != nil {
		return nil, err
	}
	f := &fetcher{Options: o, source: s, sizes: make(map[string]int64)}
	if err := f.setDefaults(); err != nil {
		return nil, err
	}
	r, err := f.run(ctx)
	system, link := (*fs.PathError)(nil), (*os.LinkError)(nil)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, &interrupted{ctx.Err(), cmp.Or(f.kept, "The same command resumes the work.")}
	case errors.As(err, &system):
		return nil, invalid.File(system.Path, err)
	case errors.As(err, &link):
		return nil, invalid.File(link.New, err)
	}
	return r, err
}

// interrupted is the error of a fetch that its context ended.
type interrupted struct {
	error
	hint string
}

func (i *interrupted) Error() string { return "interrupted. " + i.hint }
func (i *interrupted) Unwrap() error { return i.error }

// fetcher is one call of Fetch.
type fetcher struct {
	Options
	source
	sizes map[string]int64 // of the files that were unpacked, by path below the folder
	kept  string           // describes what a failed download leaves, for the hint
}

func (f *fetcher) setDefaults() (err error) {
	if sum, err := hex.DecodeString(f.SHA256); err != nil || len(sum) != sha256.Size && f.SHA256 != "" {
		return &invalid.Error{Where: "--sha256", Want: "64 hexadecimal digits", Got: invalid.Quote(f.SHA256)}
	}
	f.ArchiveURL, f.MetaURL = cmp.Or(f.ArchiveURL, f.weights, XianURL), cmp.Or(f.MetaURL, MetaURL)
	for flag, source := range map[string]string{"--archive-url": f.ArchiveURL, "--meta-url": f.MetaURL} {
		u, err := url.Parse(source)
		want := "an http or https address"
		if f.weights == "" {
			want += ", or the path of an archive"
		}
		if f.weights == "" && !isAddress(source) || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
			continue
		}
		// More of it could contain a part of the password.
		scheme, _, _ := strings.Cut(source, ":")
		return &invalid.Error{Where: flag, Want: want, Got: "one that begins with " + invalid.Quote(scheme)}
	}
	if f.DownloadDir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return &invalid.Error{Where: "download dir", Err: err, Hint: "Give a folder with --download-dir."}
		}
		f.DownloadDir = filepath.Join(user, "lago-train", "downloads")
	}
	f.Attempts, f.Stall = cmp.Or(f.Attempts, 6), cmp.Or(f.Stall, 30*time.Second)
	f.pause, f.maxBytes = cmp.Or(f.pause, time.Second), cmp.Or(f.maxBytes, 16<<30)
	f.limits = cmp.Or(f.limits, limits{bytes: 8 << 30, ratio: 200})
	if f.Progress == nil {
		f.Progress = func(Progress) {}
	}
	if f.Notice == nil {
		f.Notice = func(string) {}
	}
	f.DataDir, err = filepath.Abs(f.DataDir)
	return err
}

// isAddress reports whether a source is an address, not the path of a file.
func isAddress(source string) bool { return strings.Contains(source, "://") }

// redact returns an address without its password, for display.
func redact(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "" // setDefaults has refused it
	}
	return u.Redacted()
}

// run fetches a data set or weights.
func (f *fetcher) run(ctx context.Context) (r *Result, err error) {
	lock, err := f.lock(ctx, f.DataDir, ".fetch.lock")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	target, exists, err := f.target()
	if err != nil {
		return nil, err
	}
	if exists && !f.Force {
		e := &invalid.Error{Where: target, Got: "a folder that exists already", Hint: "--force replaces it and everything in it."}
		if f.weights != "" {
			e.Got, e.Hint = "a file that exists already", "--force replaces it."
		}
		return nil, e
	}
	staging := filepath.Join(f.DataDir, "."+f.folder+".new")
	if err := os.RemoveAll(staging); err != nil { // that of a killed process
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	r = &Result{Name: f.name(), Folder: target}
	if f.weights == "" {
		r.Archives, err = f.unpackAll(ctx, staging)
	} else {
		r.Folder = f.DataDir
		r.Archives, err = f.fetchWeights(ctx, staging, target)
	}
	if err != nil {
		return nil, err
	}
	if err := f.place(staging, target); err != nil {
		return nil, err
	}
	r.Files = slices.Sorted(maps.Keys(f.sizes))
	for _, n := range f.sizes {
		r.Bytes += n
	}
	for i, a := range r.Archives {
		if f.DeleteArchives && f.weights == "" && a.File != a.Source {
			err = errors.Join(err, os.Remove(a.File))
			r.Archives[i].Kept = false
		}
	}
	return r, err
}

// fetchWeights downloads weights to a file, which will be the target.
func (f *fetcher) fetchWeights(ctx context.Context, file, target string) ([]Archive, error) {
	if err := f.download(ctx, "downloading "+f.name(), f.ArchiveURL, file); err != nil {
		return nil, err
	}
	a := Archive{Source: redact(f.ArchiveURL), File: file, Downloaded: true, Kept: true}
	if err := f.verify(ctx, "checking "+f.name(), &a, f.SHA256); err != nil {
		return nil, err
	}
	a.File, f.sizes[f.folder] = target, a.Bytes
	return []Archive{a}, nil
}

// unpackAll unpacks the archives into a folder that does not exist yet.
func (f *fetcher) unpackAll(ctx context.Context, staging string) (archives []Archive, err error) {
	for _, from := range []struct {
		what, source, sum string
		required, more    []string
	}{
		{"features", f.ArchiveURL, f.SHA256, releaseFiles, slices.Concat(optionalFiles, f.meta())},
		{"meta files", f.MetaURL, "", f.meta(), nil},
	} {
		missing := f.missing(from.required)
		if len(missing) == 0 {
			continue
		}
		a, err := f.archive(ctx, from.what, from.source, from.sum)
		if err != nil {
			return nil, err
		}
		archives = append(archives, a)
		err = f.unpack(ctx, a.File, staging, append(missing, from.more...))
		if errors.Is(err, errArchive) && a.File != a.Source {
			// It would fail again, and another download may not.
			hint := strings.TrimSpace("It was downloaded from " + a.Source + " and has been removed. " + alternative(a.Source))
			return nil, errors.Join(&invalid.Error{Err: err, Hint: hint}, os.Remove(a.File))
		}
		if err != nil {
			return nil, err
		}
		if missing := f.missing(from.required); len(missing) > 0 {
			return nil, &invalid.Error{
				Where: a.Source, Want: "the files of " + f.folder + " in a folder of that name",
				Got: "none named " + strings.Join(missing, ", "), Hint: alternative(a.Source),
			}
		}
	}
	return archives, nil
}

// alternative says where else the files of a built-in address are.
func alternative(address string) string {
	if address != XianURL && address != MetaURL {
		return ""
	}
	return "The data archive of the authors of LAGO (about 500 MB) has all files as well: --archive-url " + LAGOURL
}

// missing returns those of the files that were not unpacked yet.
func (f *fetcher) missing(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		_, exists := f.sizes[file]
		return exists
	})
}

// target returns the path of the data set, which may exist in any case, as package catalog
// finds it.
func (f *fetcher) target() (path string, exists bool, err error) {
	entries, err := os.ReadDir(f.DataDir)
	found := slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !strings.EqualFold(e.Name(), f.folder) })
	switch {
	case err != nil || len(found) == 0:
		return filepath.Join(f.DataDir, f.folder), false, err
	case len(found) == 1:
		return filepath.Join(f.DataDir, found[0].Name()), true, nil
	}
	return "", false, &invalid.Error{Where: f.DataDir, Want: "one folder named " + f.folder, Got: found[0].Name() + " and " + found[1].Name()}
}

// place makes the staged folder the data set's, or the staged file the weights. A kill in
// the middle of the replacement of a folder leaves the earlier one under a hidden name,
// which the next replacement removes.
func (f *fetcher) place(staging, target string) error {
	if _, err := os.Lstat(target); f.weights != "" || errors.Is(err, fs.ErrNotExist) {
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

// lock locks a folder by a file that stays in it. It waits for a process that has the
// lock; the system frees that of a process that dies.
func (f *fetcher) lock(ctx context.Context, dir, name string) (*flock.Flock, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, name), flock.SetPermissions(0o666)) // less the umask
	held, err := lock.TryLock()
	if err == nil && !held {
		f.Notice("waiting for another process that fetches to " + dir)
		_, err = lock.TryLockContext(ctx, 200*time.Millisecond)
	}
	return lock, err
}

// archive returns the archive at an address or path, downloading it if needed. What is its
// name for the user, and sum its expected SHA-256 in hex, if any.
func (f *fetcher) archive(ctx context.Context, what, source, sum string) (a Archive, err error) {
	a = Archive{Source: source, File: source, Kept: true}
	if isAddress(source) {
		a.Source = redact(source)
		a.File = filepath.Join(f.DownloadDir, cacheName(a.Source))
		var lock *flock.Flock
		if lock, err = f.lock(ctx, f.DownloadDir, ".download.lock"); err != nil {
			return a, err
		}
		defer func() { err = errors.Join(err, lock.Unlock()) }()
		if _, err := os.Lstat(a.File); errors.Is(err, fs.ErrNotExist) {
			a.Downloaded = true
			if err := f.download(ctx, "downloading "+what, source, a.File); err != nil {
				return a, err
			}
		}
	}
	return a, f.verify(ctx, "checking "+what, &a, sum)
}

// cacheName returns the file name for an address: readable, and different for files of
// the same name elsewhere.
func cacheName(address string) string {
	name := "archive"
	if u, err := url.Parse(address); err == nil && path.Ext(u.Path) == ".zip" {
		name = strings.TrimSuffix(path.Base(u.Path), ".zip")
	}
	sum := sha256.Sum256([]byte(address))
	return name + "-" + hex.EncodeToString(sum[:6]) + ".zip"
}

// verify computes the size and checksum of an archive, and compares the latter with the
// expected one, if any.
func (f *fetcher) verify(ctx context.Context, step string, a *Archive, want string) error {
	file, size, err := input.OpenRegular(ctx, a.File)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // nothing was written
	m, sum := f.meter(step), sha256.New()
	m.total = size
	if a.Bytes, err = io.Copy(io.MultiWriter(m, sum), file); err != nil {
		return err
	}
	a.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if want == "" || strings.EqualFold(want, a.SHA256) {
		return nil
	}
	e := &invalid.Error{Where: a.File, Field: "SHA-256", Want: strings.ToLower(want), Got: a.SHA256}
	switch {
	case f.weights != "":
		e.Where = a.Source // the file will be removed
	case a.File != a.Source:
		e.Hint = "It came from " + a.Source + ". To download it again, remove it first."
	}
	return e
}

// meter reports the bytes that are written to it as progress of a step.
type meter struct {
	step        string
	done, total int64 // total is -1 if unknown
	progress    func(Progress)
}

func (f *fetcher) meter(step string) *meter { return &meter{step: step, progress: f.Progress} }

func (m *meter) Write(b []byte) (int, error) {
	m.done += int64(len(b))
	m.progress(Progress{m.step, m.done, m.total})
	return len(b), nil
}
