package fetch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset/fetch/internal/unpack"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Result is what a fetch leaves.
type Result struct {
	Name     string    `json:"name"`   // of the data set, in lower case
	Folder   string    `json:"folder"` // absolute
	Files    []string  `json:"files"`  // paths below the folder, with slashes, sorted
	Bytes    int64     `json:"bytes"`  // of the files
	Archives []Archive `json:"archives"`
}

// Fetch gets one of the data sets of Names and leaves it in a folder of that name
// below the data dir. Where there is one already, the error wraps an *Exists. Where ctx
// ends it, the error wraps a *Cancelled; after that one and any other, the same call
// goes on with what was downloaded.
func Fetch(ctx context.Context, name string, o Options) (*Result, error) {
	s, err := sourceOf(name)
	if err != nil {
		return nil, err
	}
	if o.SHA256 != "" && !isSum(o.SHA256) {
		return nil, fmt.Errorf("SHA-256: expected 64 hexadecimal digits, found %q", o.SHA256)
	}
	o, err = o.withDefaults()
	if err != nil {
		return nil, err
	}
	dataDir, err := filepath.Abs(o.DataDir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dataDir, 0o777); err != nil {
		return nil, err
	}
	r, err := s.fetch(ctx, dataDir, o)
	if err != nil && ctx.Err() != nil {
		return nil, s.cancelled(err, ctx.Err())
	}
	return r, err
}

// fetch fetches the data set to a data dir that is there.
func (s source) fetch(ctx context.Context, dataDir string, o Options) (r *Result, err error) {
	f := s.foldersIn(dataDir)
	free, err := hold(ctx, f.lock, func() {
		o.Notice("waiting for another process that fetches " + s.folder + " to " + dataDir)
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, free()) }()
	if err := f.find(); err != nil {
		return nil, err
	}
	if f.there && !o.Force {
		return nil, &Exists{Folder: f.target}
	}
	return (&fetching{Options: o, source: s, folders: f}).run(ctx)
}

// fetching is one call of Fetch, which has the lock of the data set.
type fetching struct {
	Options
	source
	folders
	archives []*Archive
	sizes    map[string]int64 // of the files that are there, by path
}

func (f *fetching) run(ctx context.Context) (r *Result, err error) {
	f.sizes = make(map[string]int64)
	release, err := f.Options.archive(ctx, "features", f.ArchiveURL)
	if err != nil {
		return nil, elsewhere(err, f.ArchiveURL == XianURL)
	}
	if err := release.verify(f.SHA256); err != nil {
		return nil, err
	}
	if err := f.stage(); err != nil {
		return nil, err
	}
	defer func() {
		// After place there is none.
		err = errors.Join(err, os.RemoveAll(f.staging))
	}()
	if err := f.unpack(ctx, release, slices.Concat(f.needed(), optionalFiles), releaseFiles); err != nil {
		return nil, elsewhere(err, f.ArchiveURL == XianURL)
	}
	if err := f.getMeta(ctx); err != nil {
		return nil, elsewhere(err, f.MetaURL == MetaURL)
	}
	if err := f.place(); err != nil {
		return nil, err
	}
	return f.result()
}

// getMeta gets those of the meta files that the first archive doesn't have.
func (f *fetching) getMeta(ctx context.Context) error {
	lacks := f.lacking(f.meta())
	if len(lacks) == 0 {
		return nil
	}
	meta, err := f.Options.archive(ctx, "meta files", f.MetaURL)
	if err != nil {
		return err
	}
	return f.unpack(ctx, meta, lacks, lacks)
}

// unpack takes the wanted files out of an archive, which must have the needed ones.
func (f *fetching) unpack(ctx context.Context, a *Archive, wanted, needed []string) error {
	f.archives = append(f.archives, a)
	files, err := unpack.Files(ctx, a.File, f.staging, func(entry string) (string, bool) {
		file, ok := f.fileOf(entry)
		return file, ok && slices.Contains(wanted, file)
	}, unpack.Options{Progress: f.step("unpacking " + f.source.folder)})
	if errors.Is(err, unpack.ErrArchive) && !a.local() {
		// What was downloaded is of no use, and would fail again.
		err = fmt.Errorf("%w; it came from %s and was removed", err, a.Source)
		return errors.Join(err, os.Remove(a.File))
	}
	if err != nil {
		return err
	}
	for _, file := range files {
		f.sizes[file.Name] = file.Bytes
	}
	if lacks := f.lacking(needed); len(lacks) > 0 {
		return f.incomplete(a.Source, lacks)
	}
	return nil
}

// lacking returns those of the files that are not there yet.
func (f *fetching) lacking(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		_, there := f.sizes[file]
		return there
	})
}

// result tells what is there, and removes the archives if they aren't to be kept.
func (f *fetching) result() (*Result, error) {
	r := &Result{Name: f.name(), Folder: f.target, Files: slices.Sorted(maps.Keys(f.sizes))}
	for _, n := range f.sizes {
		r.Bytes += n
	}
	for _, a := range f.archives {
		if f.DeleteArchives && !a.local() {
			if err := os.Remove(a.File); err != nil {
				return nil, &invalid.Error{Where: a.File, Want: "that the archive can be removed; the data set is in " + f.target, Err: err}
			}
			a.Kept = false
		}
		r.Archives = append(r.Archives, *a)
	}
	return r, nil
}
