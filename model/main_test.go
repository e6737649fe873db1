package model_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/lago-train/lago-train/internal/blas"
)

// TestMain selects the BLAS by $LAGO_BLAS; "go" is gonum's.
func TestMain(m *testing.M) {
	if _, err := blas.Use(""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
