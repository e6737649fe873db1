package npy

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// maxText is the largest size of a text file of integers in bytes, far above the labels
// of any data set.
const maxText = 1 << 28

// ReadIntegers reads at least one integer: from an .npy of one dimension, or of two of
// which one is 1, or from a text file as ParseIntegers does.
func ReadIntegers(ctx context.Context, path string) ([]int, error) {
	var numbers []int
	var err error
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		numbers, err = readIntegers(ctx, path)
	} else {
		var text []byte
		if text, err = input.ReadFile(ctx, path, maxText); err == nil {
			numbers, err = ParseIntegers(path, string(text))
		}
	}
	if err == nil && len(numbers) == 0 {
		err = &invalid.Error{Where: path, Want: "at least one integer", Got: "none"}
	}
	return numbers, err
}

func readIntegers(ctx context.Context, path string) ([]int, error) {
	f, h, err := open(ctx, path, "<i8", "<i4")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	n := -1
	switch s := h.shape; {
	case len(s) == 1, len(s) == 2 && s[1] == 1:
		n = s[0]
	case len(s) == 2 && s[0] == 1:
		n = s[1]
	}
	if n < 1 {
		return nil, &invalid.Error{Where: path, Field: "shape", Want: "one dimension, with one integer per sample", Got: h.shapeText()}
	}
	if err := h.checkSize(path, n, 1); err != nil {
		return nil, err
	}
	raw := make([]byte, h.size)
	if _, err := io.ReadFull(f, raw); err != nil {
		return nil, short(path, err)
	}
	numbers := make([]int, n)
	for i := range numbers {
		if h.kind == "<i4" {
			numbers[i] = int(int32(binary.LittleEndian.Uint32(raw[4*i:])))
		} else {
			numbers[i] = int(int64(binary.LittleEndian.Uint64(raw[8*i:])))
		}
	}
	return numbers, nil
}

// ParseIntegers reads integers separated by commas, semicolons, spaces or lines. where is
// the file or flag that errors name.
func ParseIntegers(where, text string) ([]int, error) {
	var numbers []int
	line := 0
	for part := range strings.SplitSeq(text, "\n") {
		line++
		for word := range strings.FieldsFuncSeq(part, func(r rune) bool { return strings.ContainsRune(", \t\r;", r) }) {
			n, err := strconv.Atoi(word)
			if err != nil {
				return nil, &invalid.Error{Where: where, Field: fmt.Sprintf("line %d", line), Want: "integers", Got: invalid.Quote(word)}
			}
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}
