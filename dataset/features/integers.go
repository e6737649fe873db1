package features

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
)

// maxText is the largest size of a text file of integers in bytes, far above the labels
// of any data set.
const maxText = 1 << 28

// ReadIntegers reads at least one integer, such as the label of each sample: from an .npy or .npz,
// from the variable labels of a .mat or its only vector of numbers, or from a text file as
// ParseIntegers does.
func ReadIntegers(ctx context.Context, path string) (numbers []int, err error) {
	var values []float32
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npy", ".npz":
		values, err = readVector(ctx, path)
	case ".mat":
		var a *matlab.Array
		if a, err = matlab.OpenOne(ctx, path, "labels", isVector); err == nil && !(a.Class.Numeric() && isVector(a.Dims)) {
			err = notVector(path, a.Size())
		}
		if err == nil {
			err = a.Load(ctx)
			values = a.Float32
		}
	default:
		var text []byte
		if text, err = fileio.ReadFile(ctx, path, maxText); err != nil {
			return nil, err
		}
		if other := fileio.FormatOf(text); other.Name != "" {
			return nil, &invalid.Error{Where: path, Want: "integers", Got: other.Name, Hint: other.Hint}
		}
		numbers, err = ParseIntegers(path, strings.TrimPrefix(string(text), "\ufeff"))
	}
	for i, v := range values {
		numbers = append(numbers, int(v))
		if float32(numbers[i]) != v {
			return nil, &invalid.Error{Where: path, Field: fmt.Sprintf("value %d", i+1), Want: "an integer", Got: fmt.Sprint(v)}
		}
	}
	if err == nil && len(numbers) == 0 {
		err = &invalid.Error{Where: path, Want: "at least one integer", Got: "none"}
	}
	return numbers, err
}

// ReadScores is ReadAll of the scores of samples. The matrix of a .mat may be samples x classes, or
// classes x samples as features are.
func ReadScores(ctx context.Context, path string, samples int) (dataset.Matrix[float32], error) {
	x, err := ReadAll(ctx, path)
	if err != nil || x.Rows == samples || x.Cols != samples || !strings.EqualFold(filepath.Ext(path), ".mat") {
		return x, err
	}
	turned := dataset.NewMatrix[float32](x.Cols, x.Rows)
	for i := range turned.Data {
		turned.Data[i] = x.Row(i % x.Rows)[i/x.Rows]
	}
	return turned, nil
}

func isVector(dims []int) bool { return len(dims) == 2 && slices.Contains(dims, 1) }

func notVector(path, found string) error {
	return &invalid.Error{Where: path, Want: "one dimension, with one integer per sample", Got: found}
}

func readVector(ctx context.Context, path string) ([]float32, error) {
	m, err := npy.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = m.Close() }() // nothing was written
	if m.Rows > 1 && m.Cols > 1 {
		return nil, notVector(path, fmt.Sprintf("%d x %d", m.Rows, m.Cols))
	}
	values := make([]float32, m.Rows*m.Cols)
	return values, m.Read(values)
}

// ParseIntegers reads integers separated by commas, semicolons, spaces or lines, such as 3 or 3.0. A
// word without digits in the first line is the name of a column. where is the file or flag that errors name.
func ParseIntegers(where, text string) ([]int, error) {
	var numbers []int
	line := 0
	for part := range strings.SplitSeq(text, "\n") {
		line++
		for word := range strings.FieldsFuncSeq(part, func(r rune) bool { return strings.ContainsRune(", \t\r;", r) }) {
			n, err := strconv.Atoi(word)
			if v, e := table.Number(word, 64); err != nil && e == nil && math.Abs(v) <= math.MaxInt32 && v == math.Trunc(v) {
				n, err = int(v), nil // as numpy.savetxt writes it
			}
			if err != nil && line == 1 && word == strings.TrimSpace(part) && !strings.ContainsAny(word, "0123456789") {
				continue
			}
			if err != nil {
				return nil, &invalid.Error{Where: where, Field: fmt.Sprintf("line %d", line), Want: "integers", Got: invalid.Quote(word)}
			}
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}
