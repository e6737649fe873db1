// Package fetch downloads the data sets of the paper, CUB, AWA2 and SUN, from where
// they are published, as folders that package xlsa17 reads, and the weights of networks.
//
// Two archives make one data set: the release of Xian et al. has features, descriptions and splits, and the
// repository of the authors of LAGO the groups of the attributes. They stay in the data directory for the
// next data set. An archive that was saved there by another program is read as a downloaded one is.
package fetch

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
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
)

// The archives in the data directory.
const (
	XianFile = "xlsa17.zip"
	MetaFile = "LAGO.zip"
)

// sumSuffix is that of the file beside a download that records its SHA-256, as sha256sum writes it. No sums
// are published: later downloads of the same name must have the recorded one.
const sumSuffix = ".sha256"

// The files of a data set's folder, as package xlsa17 reads them.
var (
	releaseFiles = []string{
		"res101.mat", "att_splits.mat", "trainclasses1.txt", "valclasses1.txt", "trainvalclasses.txt",
		"testclasses.txt",
	}
	optionalFiles = []string{
		"allclasses.txt", "trainclasses2.txt", "valclasses2.txt", "trainclasses3.txt", "valclasses3.txt",
	}
	metaFiles = []string{
		"meta/attribute_names_with_semantic_group.txt", "meta/class_descriptions_by_attributes.txt",
		"meta/classes.txt",
	}
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
	model := "timm/" + network + ".tv_in1k"
	switch {
	case strings.HasPrefix(network, "dinov2"):
		model = "facebook/" + network
	case strings.HasPrefix(network, "clip"):
		model = "openai/" + network
	}
	return "https://huggingface.co/" + model + "/resolve/main/model.safetensors"
}

// Options configure a fetch.
type Options struct {
	DataDir string // gets the folder of the data set, or the weights; created if needed

	// Check opens what was fetched, the folder of a data set or the file of weights of a name, before it
	// takes its place. Its errors need not name that path, which is temporary.
	Check func(ctx context.Context, name, path string) error

	Progress func(format.Progress) // is called often

	server string // in place of the published addresses, for tests
}

// Fetched describes a fetched data set, or the weights of a network.
type Fetched struct {
	Name  string // in lower case
	Path  string // of the folder of the data set, or of the file of weights
	Files []File // that it came from
	As    string // the data set as it is named in commands
}

// Tables say what was fetched, and the command that uses it.
func (r *Fetched) Tables() []*table.Table {
	t := table.New(r.Name + ": " + r.Path)
	for _, file := range r.Files {
		t.Note("  from %s\n       SHA-256 %s", file.From, file.SHA256)
	}
	if slices.Contains(Networks(), r.Name) {
		t.Note("next: lago-train dataset extract NAME --images DIR --weights %s", r.Path)
	} else {
		t.Note("next: lago-train dataset check %s", r.As)
	}
	return []*table.Table{t}
}

// File is a downloaded file: an archive that files of a data set came from, or weights.
type File struct {
	From   string // address
	Path   string
	SHA256 string // in hex
}

// Fetch downloads one of Names to a folder of that name below the data dir, or the weights of one of Networks
// to a file there. What is there already is not replaced. If ctx ends the fetch, the error wraps that of ctx.
func Fetch(ctx context.Context, name string, o Options) (*Fetched, error) {
	name, err := invalid.OneOf(name, slices.Concat(Names(), Networks())...)
	if err != nil {
		return nil, &invalid.Error{Where: "data set", Err: err, Usage: true}
	}
	file, fetch := name+".safetensors", o.weights
	if slices.Contains(Names(), name) {
		file, fetch = strings.ToUpper(name), o.dataSet
	}
	r := &Fetched{Name: name, Path: filepath.Join(o.DataDir, file)}
	if err := os.MkdirAll(o.DataDir, 0o777); err != nil {
		return nil, invalid.Folder(o.DataDir, "a folder of data sets", err)
	}
	lock, err := fileio.Lock(ctx, filepath.Join(o.DataDir, ".fetch.lock"), false, func() {
		logrus.Info("waiting for another process that fetches to " + o.DataDir)
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Unlock() }() // the end of the process frees it, too
	if _, err := os.Lstat(r.Path); err == nil {
		return nil, &invalid.Error{
			Where: r.Path, Got: "a file or folder that exists already",
			Hint: "To fetch it again, remove it first.",
		}
	}
	err = fetch(ctx, r)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
	if system := (*fs.PathError)(nil); errors.As(err, &system) && !errors.As(err, new(*invalid.Error)) {
		err = invalid.File(system.Path, err)
	}
	return r, err
}

func (o *Options) weights(ctx context.Context, r *Fetched) error {
	from := WeightsURL(r.Name)
	return o.get(ctx, r, from, r.Path, func(part string) error {
		return invalid.At(from, o.Check(ctx, r.Name, part))
	})
}

func (o *Options) dataSet(ctx context.Context, r *Fetched) error {
	folder := filepath.Base(r.Path)
	staging := filepath.Join(o.DataDir, "."+folder+".new")
	if err := os.RemoveAll(staging); err != nil { // that of a killed process
		return err
	}
	defer func() { _ = os.RemoveAll(staging) }()
	meta := metaFiles
	if r.Name == "sun" { // its descriptions are in the order of the release, not of its list of classes
		meta = metaFiles[:2]
	}
	for _, a := range []struct {
		from, file         string
		required, optional []string
	}{{XianURL, XianFile, releaseFiles, optionalFiles}, {MetaURL, MetaFile, meta, nil}} {
		path := filepath.Join(o.DataDir, a.file)
		if err := o.get(ctx, r, a.from, path, func(part string) error {
			zipped, err := zip.OpenReader(part)
			if err != nil {
				return &invalid.Error{Where: a.from, Want: "a ZIP archive", Got: "another file", Err: err}
			}
			return zipped.Close()
		}); err != nil {
			return err
		}
		if err := o.unpack(path, folder, staging, a.required, a.optional); err != nil {
			return err
		}
	}
	if err := o.Check(ctx, r.Name, staging); err != nil {
		return invalid.At(r.Files[0].Path, err)
	}
	return fileio.Rename(staging, r.Path)
}

// get adds a file to the result, and downloads it to path unless it is there. It gets that name once it is
// whole, has the recorded SHA-256, if any, and is accepted.
func (o *Options) get(ctx context.Context, r *Fetched, from, path string,
	accept func(part string) error,
) error {
	there := path
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		there = path + ".part"
		if err := o.download(ctx, from, there); err != nil {
			_ = os.Remove(there) // a download begins anew
			return &invalid.Error{
				Where: from, Err: err,
				Hint: "Another program can download it, too, as " + path + ".",
			}
		}
	}
	file, _, err := fileio.OpenRegular(ctx, there)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // nothing was written
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return err
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	r.Files = append(r.Files, File{From: from, Path: path, SHA256: sum})
	recorded, err := os.ReadFile(path + sumSuffix)
	if err == nil && !strings.HasPrefix(string(recorded), sum) {
		return &invalid.Error{
			Where: path, Field: "SHA-256", Want: strings.TrimSpace(string(recorded)), Got: sum,
			Hint: "To accept this file, remove " + path + sumSuffix + ".",
		}
	}
	if there == path {
		return nil
	}
	if err := accept(there); err != nil {
		return errors.Join(err, os.Remove(there))
	}
	line := []byte(sum + "  " + filepath.Base(path) + "\n")
	err = fileio.Write(path+sumSuffix, func(w io.Writer) error { _, err := w.Write(line); return err })
	if err != nil {
		return err
	}
	return fileio.Rename(there, path)
}

func (o *Options) download(ctx context.Context, from, part string) (err error) {
	if o.server != "" {
		from = o.server + from[strings.LastIndex(from, "/"):]
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept-Encoding", "identity") // the length is that of the file, not of a compressed copy
	req.Header.Set("User-Agent", "lago-train")
	resp, err := http.DefaultClient.Do(req)
	if about := (*url.Error)(nil); errors.As(err, &about) { // the address is printed with it
		// with bytes of the server
		err = &invalid.Error{Want: "a response", Got: format.Printable(fmt.Sprintf("%.300v", about.Err))}
	}
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()            // nothing was written
	if code := resp.StatusCode; code != http.StatusOK { // the server's own text could hold anything
		return &invalid.Error{Want: "status 200 OK", Got: fmt.Sprint(code, " ", http.StatusText(code))}
	}
	file, err := os.Create(part)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Sync(), file.Close()) }()
	total := resp.ContentLength // -1 if it is not known
	received, err := io.Copy(io.MultiWriter(file, o.meter("downloading", total)), resp.Body)
	if err != nil || total >= 0 && received != total {
		return &invalid.Error{
			Want: "the whole file", Got: fmt.Sprintf("an end after %d bytes", received), Err: err,
		}
	}
	return nil
}

// unpack writes files of the data set of a folder from a zip archive into dir. They are in a folder of that
// name, in any case of letters. The files have the names of the layout, whatever the archive has.
func (o *Options) unpack(archive, folder, dir string, required, optional []string) error {
	damaged := func(err error) error {
		return &invalid.Error{Where: archive, Err: err, Hint: "To download it again, remove it first."}
	}
	r, err := zip.OpenReader(archive)
	if err != nil {
		return damaged(err)
	}
	defer func() { _ = r.Close() }() // nothing was written
	for _, name := range slices.Concat(required, optional) {
		i := slices.IndexFunc(r.File, func(e *zip.File) bool {
			parent, found := strings.CutSuffix(e.Name, "/"+name)
			return found && strings.EqualFold(parent[strings.LastIndex(parent, "/")+1:], folder)
		})
		switch {
		case i >= 0:
			if err := o.unpackFile(r.File[i], filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return damaged(fmt.Errorf("%s: %w", r.File[i].Name, err))
			}
		case slices.Contains(required, name):
			return damaged(&invalid.Error{Want: "a file " + name + " in a folder " + folder, Got: "none"})
		}
	}
	return nil
}

// unpackFile writes one file. The zip reader compares size and checksum.
func (o *Options) unpackFile(e *zip.File, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	from, err := e.Open()
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // nothing was written
	progress := o.meter("unpacking "+e.Name, int64(e.UncompressedSize64))
	return fileio.Write(path, func(w io.Writer) error {
		_, err := io.Copy(io.MultiWriter(w, progress), from)
		return err
	})
}

type meter struct {
	format.Progress
	report func(format.Progress)
}

func (o *Options) meter(step string, total int64) *meter {
	return &meter{format.NewProgress(step, "", 0, total), o.Progress}
}

func (m *meter) Write(b []byte) (int, error) {
	m.Done += int64(len(b))
	m.report(m.Progress)
	return len(b), nil
}
