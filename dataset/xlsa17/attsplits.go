package xlsa17

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
)

// Variables of att_splits.mat.
const (
	varClasses    = "allclasses_names"
	varOriginal   = "original_att"
	varNormalised = "att" // L2-normalised columns, no probabilities: only looked for

	trainLoc      = "train_loc"
	valLoc        = "val_loc"
	trainvalLoc   = "trainval_loc"
	testSeenLoc   = "test_seen_loc"
	testUnseenLoc = "test_unseen_loc"
)

var locationVariables = []string{trainLoc, valLoc, trainvalLoc, testSeenLoc, testUnseenLoc}

// attSplits is the content of att_splits.mat.
type attSplits struct {
	mat       string // path
	classes   []string
	original  *dataset.Matrix[float64] // original_att as probabilities, classes x attributes; nil where it is absent
	hasAtt    bool
	locations map[string][]int // samples from 0 by variable, of those that are present
}

func readAttSplits(ctx context.Context, file string) (*attSplits, error) {
	headers, err := matlab.List(ctx, file)
	if err != nil {
		return nil, err
	}
	present := make(map[string]bool)
	for _, h := range headers {
		present[h.Name] = true
	}
	want := []string{varClasses}
	for _, name := range append(locationVariables, varOriginal) {
		if present[name] {
			want = append(want, name)
		}
	}
	vars, err := matlab.Read(ctx, file, want...)
	if err != nil {
		return nil, err
	}
	s := &attSplits{mat: file, hasAtt: present[varNormalised], locations: make(map[string][]int)}
	if s.classes, err = classNames(file, vars[varClasses]); err != nil {
		return nil, err
	}
	if a, ok := vars[varOriginal]; ok {
		if s.original, err = original(file, a, len(s.classes)); err != nil {
			return nil, err
		}
	}
	for _, name := range locationVariables {
		if a, ok := vars[name]; ok {
			if s.locations[name], err = indices(file, a); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

func classNames(file string, a *matlab.Array) ([]string, error) {
	if len(a.Strings) == 0 {
		return nil, wrong(file, a.Name, "a cell array of names", a.Class.String())
	}
	names := make([]string, len(a.Strings))
	entries := make([]line, len(names))
	for z, name := range a.Strings {
		names[z] = strings.TrimSpace(name)
		entries[z] = line{z + 1, names[z]}
	}
	return names, checkNames(file, a.Name+", entry", entries)
}

// original returns original_att, attributes x classes, as probabilities, classes x
// attributes.
func original(file string, a *matlab.Array, classes int) (*dataset.Matrix[float64], error) {
	if len(a.Dims) != 2 || a.Dims[1] != classes || a.Dims[0] < 1 || len(a.Float32) != a.Dims[0]*a.Dims[1] {
		return nil, wrong(file, a.Name, fmt.Sprintf("numbers for attributes x %d classes", classes), a.Size())
	}
	m := dataset.Convert[float64](dataset.Matrix[float32]{Rows: classes, Cols: a.Dims[0], Data: a.Float32})
	return &m, toProbabilities(m, file, a.Name+", class")
}

// indices returns a vector that counts from 1, as MATLAB does, counting from 0.
func indices(file string, a *matlab.Array) ([]int, error) {
	if len(a.Float32) == 0 {
		return nil, wrong(file, a.Name, "a vector of whole numbers", a.Size())
	}
	x := make([]int, len(a.Float32))
	for i, v := range a.Float32 {
		if v != float32(math.Trunc(float64(v))) || v < 1 || v > math.MaxInt32 {
			return nil, wrong(file, fmt.Sprintf("%s, entry %d", a.Name, i+1), "a whole number from 1", fmt.Sprint(v))
		}
		x[i] = int(v) - 1
	}
	return x, nil
}
