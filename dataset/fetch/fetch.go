// Package fetch downloads the data sets of the paper, CUB, AWA2 and SUN, from where
// they are published, as folders that package xlsa17 reads, and the weights of networks.
//
// Two archives make one data set: the release of Xian et al. has features, descriptions and splits, and the
// repository of the authors of LAGO the groups of the attributes. They are kept in a cache folder for the
// next data set. An interrupted download is resumed, in the same process or a later one, if the server can
// tell that the file is still the same (RFC 9110, If-Range).
//
// Archives are not trusted: only the files of the layout are written, under names of this package, and
// what they may expand to is bounded. The data set is written atomically.
package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
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

// Names returns the data sets that can be fetched, in lower case.
func Names() []string { return []string{"cub", "awa2", "sun"} }

// Networks returns the networks whose weights can be fetched.
func Networks() []string {
	return []string{"resnet101", "resnet50", "dinov2-small", "dinov2-base", "clip-vit-base-patch32"}
}

// WeightsURL returns the address of the weights of a network: ImageNet weights of torchvision, as
// timm publishes them, or those of the authors of DINOv2 and CLIP.
func WeightsURL(network string) string {
	of := "timm/" + network + ".tv_in1k"
	switch {
	case strings.HasPrefix(network, "dinov2"):
		of = "facebook/" + network
	case strings.HasPrefix(network, "clip"):
		of = "openai/" + network
	}
	return "https://huggingface.co/" + of + "/resolve/main/model.safetensors"
}

// Options configure a fetch. Only DataDir must be set.
type Options struct {
	DataDir string // gets the folder of the data set; created if needed
	// address, or path, of an archive in the layout of XianURL or LAGOURL, or of weights; empty means the
	// published one
	ArchiveURL     string
	MetaURL        string // the same of an archive with the meta folder, for what the other archive lacks
	SHA256         string // in hex, that the first archive, or the weights, must have; empty accepts any
	DownloadDir    string // keeps archives; empty means lago-train/downloads in the user's cache folder
	DeleteArchives bool   // removes the downloaded archives once the data set is complete
	// replaces an existing folder of the data set and everything in it, or file of weights
	Force bool

	// Check opens what was fetched, the folder of a data set or the file of weights of a name, before it
	// takes its place; nil accepts anything. Its errors need not name that path, which is temporary.
	Check func(ctx context.Context, name, path string) error

	// Attempts is the number of consecutive attempts that may download less than a
	// megabyte before a download is given up; 0 means 6.
	Attempts int
	// Stall is how long a server may send nothing; 0 means 30 s. A download as a whole has no time limit.
	Stall time.Duration

	Progress func(format.Progress) // is called often; nil ignores it

	pause    time.Duration // before the second attempt; each later one waits twice as long
	maxBytes int64         // of a download of unknown length, and of what an archive expands to
}

// Result describes a fetched data set, or the weights of a network.
type Result struct {
	Name     string    `json:"name"`   // in lower case
	Folder   string    `json:"folder"` // absolute path
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

// Fetch downloads one of Names to a folder of that name below the data dir, or the weights of one of Networks
// to a file there. If there is one already, that is an error unless o.Force is set. If ctx ends the fetch,
// the error wraps that of ctx. After any error, the same call resumes with what was downloaded.
func Fetch(ctx context.Context, name string, o Options) (*Result, error) {
	name, err := invalid.OneOf(name, slices.Concat(Names(), Networks())...)
	if err != nil {
		return nil, &invalid.Error{Where: "data set", Err: err, Usage: true}
	}
	f := &fetcher{Options: o, name: name, folder: strings.ToUpper(name), sizes: make(map[string]int64)}
	if slices.Contains(Networks(), name) {
		f.weights, f.folder = WeightsURL(name), name+".safetensors"
	}
	if err := f.setDefaults(); err != nil {
		return nil, err
	}
	r, err := f.run(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("interrupted. %s: %w", strings.TrimSuffix(resumes, "."), context.Cause(ctx))
	}
	if system := (*fs.PathError)(nil); errors.As(err, &system) && !errors.As(err, new(*invalid.Error)) {
		return nil, invalid.File(system.Path, err)
	}
	return r, err
}

type fetcher struct {
	Options
	name    string
	folder  string           // in the archives and below the data dir; or the file of weights
	weights string           // the published address; empty for a data set
	sizes   map[string]int64 // of the files of the result, by path below the folder
}

func (f *fetcher) setDefaults() (err error) {
	if sum, err := hex.DecodeString(f.SHA256); err != nil || len(sum) != sha256.Size && f.SHA256 != "" {
		return &invalid.Error{Field: "sha256", Want: "64 hexadecimal digits", Got: invalid.Quote(f.SHA256)}
	}
	f.ArchiveURL, f.MetaURL = cmp.Or(f.ArchiveURL, f.weights, XianURL), cmp.Or(f.MetaURL, MetaURL)
	for field, source := range map[string]string{"archive_url": f.ArchiveURL, "meta_url": f.MetaURL} {
		if _, err := f.address(source); err != nil {
			err.Field = field
			return err
		}
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
		f.Progress = func(format.Progress) {}
	}
	f.DataDir, err = filepath.Abs(f.DataDir)
	return err
}

// address parses a source, which is an address or, for an archive, the path of a file: then
// the address is nil.
func (f *fetcher) address(source string) (*url.URL, *invalid.Error) {
	if f.weights == "" && !strings.Contains(source, "://") {
		return nil, nil
	}
	u, err := url.Parse(source)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return u, nil
	}
	// More of it could contain a part of the password.
	scheme, _, _ := strings.Cut(source, ":")
	return nil, &invalid.Error{
		Want: "an http or https address, or the path of an archive",
		Got:  "one that begins with " + invalid.Quote(scheme),
	}
}

// run fetches a data set or weights to a hidden place and moves them to theirs.
func (f *fetcher) run(ctx context.Context) (r *Result, err error) {
	lock, err := f.lock(ctx, f.DataDir, ".fetch.lock")
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Unlock() }() // the end of the process frees it, too
	staging := filepath.Join(f.DataDir, "."+f.folder+".new")
	if err := os.RemoveAll(staging); err != nil { // that of a killed process
		return nil, err
	}
	target, err := f.target()
	if err != nil { // what was downloaded of others has no use
		return nil, errors.Join(err, removePart(staging))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	r = &Result{Name: f.name, Folder: target}
	if f.weights == "" {
		r.Archives, err = f.unpackAll(ctx, staging)
	} else {
		r.Folder, r.Archives = f.DataDir, make([]Archive, 1)
		sum := cmp.Or(f.SHA256, recorded(target+sumSuffix))
		r.Archives[0], err = f.get(ctx, f.name, f.ArchiveURL, staging, sum)
		r.Archives[0].File, f.sizes[f.folder] = target, r.Archives[0].Bytes
	}
	if err == nil {
		err = f.check(ctx, staging, r.Archives)
	}
	if err == nil {
		err = f.place(staging, target)
	}
	if err == nil && f.weights != "" { // as sha256sum writes it
		line := []byte(r.Archives[0].SHA256 + "  " + f.folder + "\n")
		err = fileio.Write(target+sumSuffix, func(w io.Writer) error { _, err := w.Write(line); return err })
	}
	if err != nil {
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

// sumSuffix is that of the file beside weights that records their SHA-256. No sums are published:
// later downloads, from whichever address, must have the recorded one, unless another is asked for.
const sumSuffix = ".sha256"

// recorded returns the sum that a file records, "" if there is none.
func recorded(path string) string {
	line, err := fileio.ReadRegular(path)
	if words := strings.Fields(string(line)); err == nil && len(words) > 0 && len(words[0]) == 2*sha256.Size {
		return words[0]
	}
	return ""
}

// target returns the path of the data set, which exists only if Force is set, in any case,
// as package catalog finds it.
func (f *fetcher) target() (string, error) {
	entries, err := os.ReadDir(f.DataDir)
	found := slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return !strings.EqualFold(e.Name(), f.folder)
	})
	if err != nil || len(found) == 0 {
		return filepath.Join(f.DataDir, f.folder), err
	}
	path := filepath.Join(f.DataDir, found[0].Name())
	switch {
	case len(found) > 1:
		return "", &invalid.Error{
			Where: f.DataDir, Want: "one folder named " + f.folder,
			Got: found[0].Name() + " and " + found[1].Name(),
		}
	case !f.Force:
		return "", &invalid.Error{
			Where: path, Got: "a file or folder that exists already",
			Hint: "With force it is replaced, and everything in it.",
		}
	}
	return path, nil
}

// check opens what was staged. The error names where it came from, and what is still there.
func (f *fetcher) check(ctx context.Context, staging string, from []Archive) error {
	if f.Check == nil {
		return nil
	}
	err := f.Check(ctx, f.name, staging)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if named := (*invalid.Error)(nil); errors.As(err, &named) && named.Where == staging {
		unnamed := *named
		unnamed.Where, err = "", &unnamed
	}
	hint := "The server may have sent something else, such as a login page. Nothing was replaced."
	if f.weights == "" {
		hint = "Nothing was replaced. To download it again, remove " + from[0].File + " first."
	}
	return &invalid.Error{Where: from[0].Source, Field: f.name, Err: err, Hint: hint}
}

// place moves what was staged to the target. A kill in the middle of it leaves what was there
// under a hidden name, which the next call removes.
func (f *fetcher) place(staging, target string) error {
	if f.weights != "" { // one file takes the place of another at once
		return fileio.Rename(staging, target)
	}
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

// lock locks a folder by a file in it, see fileio.Lock.
func (f *fetcher) lock(ctx context.Context, dir, name string) (*flock.Flock, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	return fileio.Lock(ctx, filepath.Join(dir, name), false, func() {
		logrus.Info("waiting for another process that fetches to " + dir)
	})
}

// get returns the archive or weights of a source: downloaded to a file, unless that exists, if the source is
// an address. What is the name for the user, and sum the expected SHA-256 in hex, if any.
func (f *fetcher) get(ctx context.Context, what, source, file, sum string) (a Archive, err error) {
	a = Archive{Source: source, File: source, Kept: true}
	if from, _ := f.address(source); from != nil {
		a.Source, a.File = from.Redacted(), file
		lock, err := f.lock(ctx, filepath.Dir(file), ".download.lock")
		if err != nil {
			return a, err
		}
		defer func() { _ = lock.Unlock() }() // as above
		if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
			a.Downloaded = true
			if err := f.download(ctx, "downloading "+what, from, file); err != nil {
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
	wrong := &invalid.Error{Where: a.Source, Field: "SHA-256", Want: strings.ToLower(sum), Got: a.SHA256}
	switch {
	case f.weights != "" && f.SHA256 == "":
		wrong.Hint = "The first download had another sum. To accept these weights, remove " +
			filepath.Join(f.DataDir, f.folder+sumSuffix) + "."
	case f.weights == "" && a.File != a.Source:
		wrong.Hint = "To download it again, remove " + a.File + " first."
	}
	return a, wrong
}

// meter reports the bytes that are written to it as progress of a step.
type meter struct {
	format.Progress
	report func(format.Progress)
}

func (f *fetcher) meter(step string, done, total int64) *meter {
	return &meter{format.NewProgress(step, "", done, total), f.Progress}
}

func (m *meter) Write(b []byte) (int, error) {
	m.Done += int64(len(b))
	m.report(m.Progress)
	return len(b), nil
}
