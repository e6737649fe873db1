package extract

import (
	"os"
	"testing"

	"github.com/lago-train/lago-train/internal/blas"
)

func TestMain(m *testing.M) {
	if _, err := blas.Use(""); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
