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

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The addresses that the archives were published at.
const (
	// XianURL is the release of Xian et al., "Zero-Shot Learning - A Comprehensive
	// Evaluation of the Good, the Bad and the Ugly": about 880 MB for the five data
	// sets of their paper, one folder each below xlsa17/data.
	XianURL = "https://datasets.d2.mpi-inf.mpg.de/xian/xlsa17.zip"
	// MetaURL is the repository of the authors of LAGO (github.com/yuvalatzmon/LAGO),
	// as of the commit that added data/NAME/meta.
	MetaURL = "https://github.com/yuvalatzmon/LAGO/archive/c389ff106a84d5fafc7828a097c49da45ac8d275.zip"
	// LAGOURL is the data archive of the authors of LAGO: about 500 MB with all files of
	// the three data sets. It can replace XianURL.
	LAGOURL = "http://chechiklab.biu.ac.il/~yuvval/LAGO/LAGO_data.zip"
)

// source is a data set or network that can be fetched.
type source struct {
	folder  string   // in the archives and below the data dir; the file of weights
	meta    []string // required files that the release lacks
	weights string   // address of ImageNet weights, those of torchvision as timm publishes them; empty for a data set
}

// The descriptions of SUN are in the order of the release, not in that of a list of classes.
var sources = []source{
	{folder: "CUB", meta: metaFiles},
	{folder: "AWA2", meta: metaFiles},
	{folder: "SUN", meta: metaFiles[:2]},
	{folder: "resnet101.safetensors", weights: "https://huggingface.co/timm/resnet101.tv_in1k/resolve/main/model.safetensors"},
	{folder: "resnet50.safetensors", weights: "https://huggingface.co/timm/resnet50.tv_in1k/resolve/main/model.safetensors"},
}

// Names returns the data sets that can be fetched, in lower case.
func Names() []string { return names(sources[:3]) }

// Networks returns the networks whose weights can be fetched.
func Networks() []string { return names(sources[3:]) }

func names(sources []source) (list []string) {
	for _, s := range sources {
		list = append(list, s.name())
	}
	return list
}

func (s source) name() string { return strings.ToLower(strings.TrimSuffix(s.folder, ".safetensors")) }

// WeightsURL returns the address that the weights of a network were published at.
func WeightsURL(network string) string {
	s, _ := sourceOf(network) // else empty
	return s.weights
}

// sourceOf finds a data set or network by its name in any case.
func sourceOf(name string) (source, error) {
	all := names(sources)
	found, err := invalid.OneOf(name, all...)
	if err != nil {
		return source{}, &invalid.Error{Where: "data set", Err: err, Usage: true}
	}
	return sources[slices.Index(all, found)], nil
}

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
	maxBytes int64         // of a download of unknown length, and of what an archive expands to
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
	if err != nil && ctx.Err() != nil {
		return nil, interrupted{ctx.Err()}
	}
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		return nil, invalid.File(system.Path, err)
	}
	return r, err
}

// interrupted is the error of a fetch that its context ended.
type interrupted struct{ error }

func (i interrupted) Error() string { return "interrupted. " + resumes }
func (i interrupted) Unwrap() error { return i.error }

// fetcher is one call of Fetch.
type fetcher struct {
	Options
	source
	sizes map[string]int64 // of the files of the result, by path below the folder
}

func (f *fetcher) setDefaults() (err error) {
	if sum, err := hex.DecodeString(f.SHA256); err != nil || len(sum) != sha256.Size && f.SHA256 != "" {
		return &invalid.Error{Field: "sha256", Want: "64 hexadecimal digits", Got: invalid.Quote(f.SHA256)}
	}
	f.ArchiveURL, f.MetaURL = cmp.Or(f.ArchiveURL, f.weights, XianURL), cmp.Or(f.MetaURL, MetaURL)
	if err := cmp.Or(f.checkAddress("archive_url", f.ArchiveURL), f.checkAddress("meta_url", f.MetaURL)); err != nil {
		return err
	}
	if f.DownloadDir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return &invalid.Error{Field: "download_dir", Want: "a folder for archives", Err: err}
		}
		f.DownloadDir = filepath.Join(user, "lago-train", "downloads")
	}
	f.Attempts, f.Stall = cmp.Or(f.Attempts, 6), cmp.Or(f.Stall, 30*time.Second)
	f.pause, f.maxBytes = cmp.Or(f.pause, time.Second), cmp.Or(f.maxBytes, 8<<30)
	if f.Progress == nil {
		f.Progress = func(Progress) {}
	}
	if f.Notice == nil {
		f.Notice = func(string) {}
	}
	f.DataDir, err = filepath.Abs(f.DataDir)
	return err
}

// checkAddress refuses what is neither an address nor, for an archive, a path.
func (f *fetcher) checkAddress(field, address string) error {
	if f.weights == "" && !isAddress(address) {
		return nil
	}
	u, err := url.Parse(address)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return nil
	}
	want := "an http or https address"
	if f.weights == "" {
		want += ", or the path of an archive"
	}
	// More of it could contain a part of the password.
	scheme, _, _ := strings.Cut(address, ":")
	return &invalid.Error{Field: field, Want: want, Got: "one that begins with " + invalid.Quote(scheme)}
}

// isAddress reports whether a source is an address, not the path of a file.
func isAddress(source string) bool { return strings.Contains(source, "://") }

// redact returns an address without its password, for display.
func redact(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "" // checkAddress has refused it
	}
	return u.Redacted()
}

// run fetches a data set or weights to a hidden place and moves them to theirs.
func (f *fetcher) run(ctx context.Context) (r *Result, err error) {
	lock, err := f.lock(ctx, f.DataDir, ".fetch.lock")
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Unlock() }() // the end of the process frees it, too
	target, err := f.target()
	if err != nil {
		return nil, err
	}
	staging := filepath.Join(f.DataDir, "."+f.folder+".new")
	if err := os.RemoveAll(staging); err != nil { // that of a killed process
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	r = &Result{Name: f.name(), Folder: target}
	if f.weights != "" {
		a, err := f.get(ctx, f.name(), f.ArchiveURL, staging, f.SHA256)
		if err != nil {
			return nil, err
		}
		a.File, f.sizes[f.folder] = target, a.Bytes
		r.Folder, r.Archives = f.DataDir, []Archive{a}
	} else if r.Archives, err = f.unpackAll(ctx, staging); err != nil {
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

// target returns the path of the data set, which exists only if Force is set, in any case,
// as package catalog finds it.
func (f *fetcher) target() (string, error) {
	entries, err := os.ReadDir(f.DataDir)
	found := slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !strings.EqualFold(e.Name(), f.folder) })
	switch {
	case err != nil || len(found) == 0:
		return filepath.Join(f.DataDir, f.folder), err
	case len(found) > 1:
		return "", &invalid.Error{Where: f.DataDir, Want: "one folder named " + f.folder, Got: found[0].Name() + " and " + found[1].Name()}
	}
	path := filepath.Join(f.DataDir, found[0].Name())
	switch {
	case f.Force:
		return path, nil
	case f.weights != "":
		return "", &invalid.Error{Where: path, Got: "a file that exists already", Hint: "--force replaces it."}
	}
	return "", &invalid.Error{Where: path, Got: "a folder that exists already", Hint: "--force replaces it and everything in it."}
}

// place moves what was staged to the target. A kill in the middle of it leaves what was there
// under a hidden name, which the next call removes.
func (f *fetcher) place(staging, target string) error {
	replaced := filepath.Join(f.DataDir, "."+f.folder+".replaced")
	_ = os.RemoveAll(replaced) // else the next line fails
	if err := os.Rename(target, replaced); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := fileio.Rename(staging, target); err != nil {
		_ = os.Rename(replaced, target) // where there is one
		return err
	}
	return os.RemoveAll(replaced)
}

const otherAddress = "dataset fetch --help names another address."

// unpackAll unpacks the archives into a folder that does not exist yet.
func (f *fetcher) unpackAll(ctx context.Context, staging string) (archives []Archive, err error) {
	for _, from := range []struct {
		what, address, sum string
		required, more     []string
	}{
		{"features", f.ArchiveURL, f.SHA256, releaseFiles, slices.Concat(optionalFiles, f.meta)},
		{"meta files", f.MetaURL, "", f.meta, nil},
	} {
		missing := f.missing(from.required)
		if len(missing) == 0 {
			continue
		}
		a, err := f.get(ctx, from.what, from.address, filepath.Join(f.DownloadDir, cacheName(redact(from.address))), from.sum)
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
func cacheName(address string) string {
	name := "archive"
	if u, err := url.Parse(address); err == nil && path.Ext(u.Path) == ".zip" {
		name = strings.TrimSuffix(path.Base(u.Path), ".zip")
	}
	sum := sha256.Sum256([]byte(address))
	return name + "-" + hex.EncodeToString(sum[:6]) + ".zip"
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

// get returns the archive or weights at an address, downloaded to a file unless that exists,
// or at a path. What is the name for the user, and sum the expected SHA-256 in hex, if any.
func (f *fetcher) get(ctx context.Context, what, address, file, sum string) (a Archive, err error) {
	a = Archive{Source: address, File: address, Kept: true}
	if isAddress(address) {
		a.Source, a.File = redact(address), file
		lock, err := f.lock(ctx, filepath.Dir(file), ".download.lock")
		if err != nil {
			return a, err
		}
		defer func() { _ = lock.Unlock() }() // as above
		if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
			a.Downloaded = true
			if err := f.download(ctx, "downloading "+what, address, file); err != nil {
				return a, err
			}
		}
	}
	opened, size, err := fileio.OpenRegular(ctx, a.File)
	if err != nil {
		return a, err
	}
	defer func() { _ = opened.Close() }() // nothing was written
	hash := sha256.New()
	if a.Bytes, err = io.Copy(io.MultiWriter(hash, f.meter("checking "+what, 0, size)), opened); err != nil {
		return a, err
	}
	a.SHA256 = hex.EncodeToString(hash.Sum(nil))
	if sum == "" || strings.EqualFold(sum, a.SHA256) {
		return a, nil
	}
	wrong := &invalid.Error{Where: a.File, Field: "SHA-256", Want: strings.ToLower(sum), Got: a.SHA256}
	switch {
	case f.weights != "":
		wrong.Where = a.Source // the file will be removed
	case a.File != a.Source:
		wrong.Hint = "It came from " + a.Source + ". To download it again, remove it first."
	}
	return a, wrong
}

// meter reports the bytes that are written to it as progress of a step.
type meter struct {
	Progress
	report func(Progress)
}

func (f *fetcher) meter(step string, done, total int64) *meter {
	return &meter{Progress{step, done, total}, f.Progress}
}

func (m *meter) Write(b []byte) (int, error) {
	m.Done += int64(len(b))
	m.report(m.Progress)
	return len(b), nil
}
