package preprocess

import (
	"fmt"
	"os"
	"testing"

	"github.com/lago-train/lago-train/internal/blas"
)

func TestMain(m *testing.M) {
	if _, err := blas.Use(""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
