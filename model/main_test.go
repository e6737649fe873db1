package model_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/lago-train/lago-train/internal/blas"
)

// TestMain chooses the BLAS of the process: $LAGO_BLAS names it, "go" for gonum's.
func TestMain(m *testing.M) {
	if _, err := blas.Use(""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
