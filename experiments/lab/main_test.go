package lab

import (
	"fmt"
	"os"
	"testing"

	"github.com/lago-train/lago-train/internal/blas"
)

// TestMain is also the main of the processes that tests start: see process.
func TestMain(m *testing.M) {
	if _, err := blas.Use(""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if root := os.Getenv(envRoot); root != "" {
		os.Exit(process(root))
	}
	os.Exit(m.Run())
}
