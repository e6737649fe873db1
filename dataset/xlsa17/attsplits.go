package xlsa17

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The variables of att_splits.mat that are read. att is only looked for, never
// read: its columns are L2-normalised, so it holds no probabilities.
const (
	varClasses    = "allclasses_names"
	varOriginal   = "original_att"
	varNormalised = "att"

	trainLoc      = "train_loc"
	valLoc        = "val_loc"
	trainvalLoc   = "trainval_loc"
	testSeenLoc   = "test_seen_loc"
	testUnseenLoc = "test_unseen_loc"
)

// attSplits is what is read of att_splits.mat.
type attSplits struct {
	file      string
	classes   []string
	original  *dataset.Matrix[float64] // original_att as probabilities, classes x attributes; nil where it is absent
	hasAtt    bool
	locations map[string][]int // by variable; samples from 0; only those that are there
}

func readAttSplits(ctx context.Context, file string) (*attSplits, error) {
	headers, err := matlab.List(ctx, file)
	if err != nil {
		return nil, fileError(file, err)
	}
	there := make(map[string]bool)
	for _, h := range headers {
		there[h.Name] = true
	}
	if !there[varClasses] {
		return nil, &invalid.Error{Where: file, Field: varClasses, Want: "the names of the classes", Got: "no such variable"}
	}
	var want []string
	for _, name := range []string{varClasses, varOriginal, trainLoc, valLoc, trainvalLoc, testSeenLoc, testUnseenLoc} {
		if there[name] {
			want = append(want, name)
		}
	}
	vars, err := matlab.Read(ctx, file, want...)
	if err != nil {
		return nil, fileError(file, err)
	}

	s := &attSplits{file: file, hasAtt: there[varNormalised], locations: make(map[string][]int)}
	if s.classes, err = classNames(file, vars[varClasses]); err != nil {
		return nil, err
	}
	if a, ok := vars[varOriginal]; ok {
		if s.original, err = original(file, a, len(s.classes)); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{trainLoc, valLoc, trainvalLoc, testSeenLoc, testUnseenLoc} {
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
		return nil, &invalid.Error{Where: file, Field: a.Name, Want: "a cell array of names", Got: fmt.Sprintf("%v", a.Class)}
	}
	names := make([]string, len(a.Strings))
	first := make(map[string]int, len(names))
	for z, name := range a.Strings {
		names[z] = strings.TrimSpace(name)
		if other, taken := first[names[z]]; taken {
			return nil, &invalid.Error{
				Where: file,
				Field: fmt.Sprintf("%s, entry %d", a.Name, z+1),
				Want:  "a name of its own",
				Got:   fmt.Sprintf("%q, which is entry %d as well", names[z], other+1),
			}
		}
		first[names[z]] = z
	}
	return names, nil
}

// original takes original_att, attributes x classes, whose columns are the rows
// of the descriptions, as probabilities.
func original(file string, a *matlab.Array, classes int) (*dataset.Matrix[float64], error) {
	if len(a.Dims) != 2 || a.Dims[1] != classes || a.Dims[0] < 1 || len(a.Float32) != a.Dims[0]*a.Dims[1] {
		return nil, &invalid.Error{
			Where: file,
			Field: a.Name,
			Want:  fmt.Sprintf("numbers for attributes x %d classes", classes),
			Got:   fmt.Sprintf("%v of %v", a.Class, a.Dims),
		}
	}
	m := dataset.NewMatrix[float64](classes, a.Dims[0])
	for i, v := range a.Float32 {
		m.Data[i] = float64(v)
	}
	return &m, toProbabilities(m, file, a.Name+", class")
}

// indices takes a vector that counts from 1, as MATLAB does, whatever numeric
// type it has, and returns it counting from 0.
func indices(file string, a *matlab.Array) ([]int, error) {
	if len(a.Float32) == 0 {
		return nil, &invalid.Error{Where: file, Field: a.Name, Want: "a vector of whole numbers", Got: fmt.Sprintf("%v of %v", a.Class, a.Dims)}
	}
	x := make([]int, len(a.Float32))
	for i, v := range a.Float32 {
		if v != float32(math.Trunc(float64(v))) || v < 1 || v > math.MaxInt32 {
			return nil, &invalid.Error{
				Where: file,
				Field: fmt.Sprintf("%s, entry %d", a.Name, i+1),
				Want:  "a whole number from 1",
				Got:   fmt.Sprint(v),
			}
		}
		x[i] = int(v) - 1
	}
	return x, nil
}
