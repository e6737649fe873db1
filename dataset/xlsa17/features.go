package xlsa17

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/invalid"
)

const (
	varFeatures = "features"
	varLabels   = "labels"
)

// features of all samples, and their classes.
type features struct {
	file   string
	values dataset.Matrix[float32] // samples x D
	labels []int                   // from 0
	sum    string                  // dataset.SumFeatures of values
}

// readFeatures reads the features of the data set in dir, from the cache if it has them.
func readFeatures(ctx context.Context, dir string, opts Options) (*features, error) {
	file, err := findFeatures(ctx, dir)
	if err != nil {
		return nil, err
	}
	c := openCache(ctx, file, opts)
	if x := c.load(ctx); x != nil || ctx.Err() != nil {
		return x, ctx.Err()
	}
	x, err := parseFeatures(ctx, file)
	if err != nil {
		return nil, err
	}
	x.sum = dataset.SumFeatures(x.values)
	c.store(x)
	return x, nil
}

// findFeatures returns res101.mat, or the one .mat of the folder that has features.
func findFeatures(ctx context.Context, dir string) (string, error) {
	if file, err := firstFile(dir, "res101.mat"); file != "" || err != nil {
		return file, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", invalid.File(dir, err)
	}
	var found, others []string
	for _, entry := range entries {
		name := entry.Name()
		if !strings.EqualFold(filepath.Ext(name), ".mat") {
			continue
		}
		headers, err := matlab.List(ctx, filepath.Join(dir, name))
		switch {
		case err != nil:
			others = append(others, fmt.Sprintf("%s (%v)", name, err))
		case slices.ContainsFunc(headers, func(h matlab.Header) bool { return h.Name == varFeatures }):
			found = append(found, name)
		default:
			others = append(others, name+" (which has none)")
		}
	}
	got := "no .mat file"
	switch {
	case len(found) == 1:
		return filepath.Join(dir, found[0]), nil
	case len(found) > 1:
		got = "several: " + strings.Join(found, ", ")
	case len(others) > 0:
		got = "only " + strings.Join(others, ", ")
	}
	return "", wrong(dir, "", "res101.mat, or one .mat with a variable "+varFeatures, got)
}

// parseFeatures reads D x N features, which column by column are N rows of D, and N
// labels.
func parseFeatures(ctx context.Context, file string) (*features, error) {
	vars, err := matlab.Read(ctx, file, varFeatures, varLabels)
	if err != nil {
		return nil, err
	}
	labels, err := indices(file, vars[varLabels])
	if err != nil {
		return nil, err
	}
	a := vars[varFeatures]
	if len(a.Dims) != 2 || a.Dims[1] != len(labels) || len(a.Float32) != a.Dims[0]*a.Dims[1] {
		return nil, wrong(file, varFeatures, fmt.Sprintf("numbers for D dimensions x %d samples, one for each label", len(labels)), a.Size())
	}
	return &features{
		file:   file,
		values: dataset.Matrix[float32]{Rows: a.Dims[1], Cols: a.Dims[0], Data: a.Float32},
		labels: labels,
	}, nil
}
