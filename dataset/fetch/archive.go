package fetch

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/input"
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
	folder  string // in the archives and below the data dir; the file of weights
	weights string // address of ImageNet weights, those of torchvision as timm publishes them; empty for a data set
}

var sources = []source{
	{"CUB", ""},
	{"AWA2", ""},
	{"SUN", ""},
	{"resnet101.safetensors", "https://huggingface.co/timm/resnet101.tv_in1k/resolve/main/model.safetensors"},
	{"resnet50.safetensors", "https://huggingface.co/timm/resnet50.tv_in1k/resolve/main/model.safetensors"},
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
	if i := slices.Index(all, strings.ToLower(name)); i >= 0 {
		return sources[i], nil
	}
	return source{}, &invalid.Error{
		Where: "data set " + invalid.Quote(name), Want: "one of " + strings.Join(all, ", "), Hint: invalid.DidYouMean(name, all),
	}
}

// The files of a data set's folder, as package xlsa17 reads them. In the LAGO data
// archive the files of the release are in a folder xian2017.
var (
	releaseFiles  = []string{"res101.mat", "att_splits.mat", "trainclasses1.txt", "valclasses1.txt", "trainvalclasses.txt", "testclasses.txt"}
	optionalFiles = []string{"allclasses.txt", "trainclasses2.txt", "valclasses2.txt", "trainclasses3.txt", "valclasses3.txt"}
	metaFiles     = []string{"meta/attribute_names_with_semantic_group.txt", "meta/class_descriptions_by_attributes.txt", "meta/classes.txt"}
)

// meta returns the required files that the release lacks. The descriptions of SUN are in the
// order of the release, not in that of a list of classes.
func (s source) meta() []string {
	if s.folder == "SUN" {
		return metaFiles[:2]
	}
	return metaFiles
}

// fileOf returns the path below the folder of the data set at which an entry of an
// archive belongs, and whether it does. It is always one of the paths of the layout.
func (s source) fileOf(entry string) (file string, ok bool) {
	elements := strings.Split(entry, "/")
	for folder := len(elements) - 2; folder >= max(len(elements)-3, 0); folder-- {
		if strings.EqualFold(elements[folder], s.folder) {
			file, inXian := strings.CutPrefix(strings.Join(elements[folder+1:], "/"), "xian2017/")
			release := slices.Contains(releaseFiles, file) || slices.Contains(optionalFiles, file)
			return file, release || !inXian && slices.Contains(s.meta(), file)
		}
	}
	return "", false
}

// errArchive is wrapped by the errors whose cause is the content of an archive.
var errArchive = errors.New("the archive is damaged or unsafe")

// limits bound what an archive may hold.
type limits struct {
	bytes int64 // of all files that are unpacked
	ratio int64 // of all files to the archive
}

// unpack writes the wanted files of a zip archive into a new folder, or one that has none of
// them, and sets f.sizes. The archive is not trusted: whatever its entries are called, the
// files have the names of the layout.
func (f *fetcher) unpack(ctx context.Context, archive, dir string, wanted []string) error {
	file, size, err := input.OpenRegular(ctx, archive)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // nothing was written
	m := f.meter("unpacking " + f.folder)
	entries, err := f.choose(file, size, wanted)
	for _, e := range entries {
		m.total += int64(e.UncompressedSize64)
	}
	for name, e := range entries {
		if err == nil {
			f.sizes[name] = int64(e.UncompressedSize64)
			err = write(m, filepath.Join(dir, filepath.FromSlash(name)), e)
		}
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return cmp.Or(ctx.Err(), err)
	case errors.As(err, new(*fs.PathError)):
		return err
	}
	return &invalid.Error{Where: archive, Err: fmt.Errorf("%w: %w", errArchive, err)}
}

// choose returns the entries of the wanted files, by the names of these. It checks all that
// can be checked before they are read.
func (f *fetcher) choose(file io.ReaderAt, size int64, wanted []string) (map[string]*zip.File, error) {
	r, err := zip.NewReader(file, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	chosen := make(map[string]*zip.File)
	most := uint64(min(f.limits.bytes, f.limits.ratio*size)) // entries can share compressed bytes
	for _, e := range r.File {
		name, ok := f.fileOf(e.Name)
		if !ok || !slices.Contains(wanted, name) {
			continue
		}
		refused := &invalid.Error{Field: fmt.Sprintf("entry %.100q", e.Name)} // of any length and characters
		switch {
		case chosen[name] != nil:
			refused.Want, refused.Got = "one entry for "+name, "another one before it"
		case !e.Mode().IsRegular() || e.Flags&1 != 0:
			refused.Want, refused.Got = "a regular file that is not encrypted", "mode "+e.Mode().String()
		case e.UncompressedSize64 > most:
			refused.Want, refused.Got = fmt.Sprintf("at most %d more bytes", most), fmt.Sprint(e.UncompressedSize64)
		default:
			most -= e.UncompressedSize64
			chosen[name] = e
			continue
		}
		return nil, refused
	}
	return chosen, nil
}

// write writes one file, and syncs it and its folder. The zip reader compares size and
// checksum, and returns no bytes beyond the declared size.
func write(m *meter, path string, e *zip.File) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close(), atomicfile.SyncFolder(filepath.Dir(path))) }()
	from, err := e.Open()
	if err != nil {
		return fmt.Errorf("entry %.100q: %w", e.Name, err)
	}
	defer func() { _ = from.Close() }() // nothing was written
	if _, err := io.Copy(io.MultiWriter(m, to), from); err != nil {
		return fmt.Errorf("entry %.100q: %w", e.Name, err)
	}
	return to.Sync()
}
