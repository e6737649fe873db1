package xlsa17

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/invalid"
)

const (
	varFeatures = "features"
	varLabels   = "labels"
)

// features of all samples and the classes they belong to.
type features struct {
	file   string
	values dataset.Matrix[float32] // samples x D
	labels []int                   // from 0
	sum    string                  // dataset.SumFeatures of values
}

// readFeatures reads the features of the data set in dir, from the cache where
// it has them.
func readFeatures(ctx context.Context, dir string, opts Options) (*features, error) {
	file, err := findFeatures(ctx, dir)
	if err != nil {
		return nil, err
	}
	c, err := openCache(file, opts)
	if err != nil {
		return nil, err
	}
	if x := c.load(); x != nil {
		return x, nil
	}
	x, err := parseFeatures(ctx, file)
	if err != nil {
		return nil, err
	}
	x.sum = dataset.SumFeatures(x.values)
	c.store(x)
	return x, nil
}

// findFeatures returns res101.mat, or the one .mat of the folder that has
// features in it.
func findFeatures(ctx context.Context, dir string) (string, error) {
	if file, err := firstFile(dir, "res101.mat"); file != "" || err != nil {
		return file, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fileError(dir, err)
	}
	var found, others []string
	for _, entry := range entries {
		if !strings.EqualFold(filepath.Ext(entry.Name()), ".mat") {
			continue
		}
		file := filepath.Join(dir, entry.Name())
		headers, err := matlab.List(ctx, file)
		switch {
		case err != nil:
			others = append(others, fmt.Sprintf("%s (%v)", entry.Name(), err))
		case hasFeatures(headers):
			found = append(found, entry.Name())
		default:
			others = append(others, fmt.Sprintf("%s (which has none)", entry.Name()))
		}
	}
	if len(found) == 1 {
		return filepath.Join(dir, found[0]), nil
	}
	e := &invalid.Error{Where: dir, Want: "res101.mat, or one .mat with a variable " + varFeatures}
	switch {
	case len(found) > 1:
		e.Got = "several: " + strings.Join(found, ", ")
	case len(others) > 0:
		e.Got = "only " + strings.Join(others, ", ")
	default:
		e.Got = "no .mat at all"
	}
	return "", e
}

func hasFeatures(headers []matlab.Header) bool {
	for _, h := range headers {
		if h.Name == varFeatures {
			return true
		}
	}
	return false
}

// parseFeatures reads D x N features, which column by column are N rows of D,
// and N labels. The features stay in the memory they were read into.
func parseFeatures(ctx context.Context, file string) (*features, error) {
	vars, err := matlab.Read(ctx, file, varFeatures, varLabels)
	if err != nil {
		return nil, fileError(file, err)
	}
	labels, err := indices(file, vars[varLabels])
	if err != nil {
		return nil, err
	}
	a := vars[varFeatures]
	if len(a.Dims) != 2 || a.Dims[1] != len(labels) || len(a.Float32) != a.Dims[0]*a.Dims[1] {
		return nil, &invalid.Error{
			Where: file,
			Field: varFeatures,
			Want:  fmt.Sprintf("numbers for D dimensions x %d samples, one for each label", len(labels)),
			Got:   fmt.Sprintf("%v of %v", a.Class, a.Dims),
		}
	}
	return &features{
		file:   file,
		values: dataset.Matrix[float32]{Rows: a.Dims[1], Cols: a.Dims[0], Data: a.Float32},
		labels: labels,
	}, nil
}
