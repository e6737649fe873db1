package integers

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// maxFile is far above the numbers of any data set.
const maxFile = 1 << 28

// Read reads the numbers of a file: an .npy of one dimension, or of two of
// which one is 1, or text. Errors are of type *invalid.Error.
func Read(ctx context.Context, path string) ([]int, error) {
	data, err := input.ReadFile(ctx, path, maxFile)
	if err != nil {
		return nil, err
	}
	var numbers []int
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		numbers, err = parseNPY(path, data)
	} else {
		numbers, err = Parse(path, string(data))
	}
	if err == nil && len(numbers) == 0 {
		err = &invalid.Error{Where: path, Want: "at least one whole number", Got: "none"}
	}
	return numbers, err
}

// Parse reads whole numbers that are parted by commas, spaces or lines. Errors are of
// type *invalid.Error; source is what they name as the file.
func Parse(source, text string) ([]int, error) {
	var numbers []int
	line := 1
	for part := range strings.SplitSeq(text, "\n") {
		for _, word := range strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(", \t\r;", r) }) {
			n, err := strconv.Atoi(word)
			if err != nil {
				return nil, &invalid.Error{Where: source, Field: fmt.Sprintf("line %d", line), Want: "whole numbers", Got: strconv.Quote(word)}
			}
			numbers = append(numbers, n)
		}
		line++
	}
	return numbers, nil
}
