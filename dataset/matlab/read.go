package matlab

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Read returns the wanted variables of a MAT-file by their names. A wanted variable
// that the file does not have, or that cannot be decoded, is an error. Without
// names it returns every variable that can be decoded. Of variables that share a
// name the first counts.
//
// An error about the contents of the file is an [*Error].
func Read(ctx context.Context, path string, want ...string) (arrays map[string]*Array, err error) {
	err = withFile(ctx, path, func(f *input.File, size int64) error {
		arrays, err = ReadFrom(f, size, path, want...)
		return err
	})
	return arrays, err
}

// List returns the headers of the variables in a MAT-file, in the order in which
// they are stored. It inflates no more than the start of each.
func List(ctx context.Context, path string) (headers []Header, err error) {
	err = withFile(ctx, path, func(f *input.File, size int64) error {
		headers, err = ListFrom(f, size, path)
		return err
	})
	return headers, err
}

func withFile(ctx context.Context, path string, use func(f *input.File, size int64) error) (err error) {
	f, err := input.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}()
	size, regular := f.Size()
	if !regular {
		return &invalid.Error{Where: path, Want: "a regular file", Got: "a pipe, device or folder"}
	}
	return use(f, size)
}

// ReadFrom is [Read] for a MAT-file that is the first size bytes of r. Errors call
// it name.
func ReadFrom(r io.ReaderAt, size int64, name string, want ...string) (map[string]*Array, error) {
	f, err := openFile(r, size, name)
	if err != nil {
		return nil, err
	}
	arrays := make(map[string]*Array)
	var seen []string
	missing := slices.Clone(want)
	for v, err := range f.variables() {
		if err != nil {
			return nil, err
		}
		seen = append(seen, v.Name)
		if arrays[v.Name] != nil || len(want) > 0 && !slices.Contains(want, v.Name) {
			continue
		}
		a, err := v.decode()
		if len(want) == 0 && errors.Is(err, ErrUnsupported) {
			continue
		}
		if err != nil {
			return nil, err
		}
		arrays[v.Name] = a
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == v.Name })
		if len(want) > 0 && len(missing) == 0 {
			break
		}
	}
	if len(missing) > 0 {
		got := "no variables"
		if len(seen) > 0 {
			got = strings.Join(seen, ", ")
		}
		return nil, &Error{File: name, Variable: missing[0], Want: "a variable of this name", Got: got}
	}
	return arrays, nil
}

// ListFrom is [List] for a MAT-file that is the first size bytes of r. Errors call
// it name.
func ListFrom(r io.ReaderAt, size int64, name string) ([]Header, error) {
	f, err := openFile(r, size, name)
	if err != nil {
		return nil, err
	}
	var headers []Header
	for v, err := range f.variables() {
		if err != nil {
			return nil, err
		}
		headers = append(headers, v.Header)
	}
	return headers, nil
}
