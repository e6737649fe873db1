package train_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/lago-train/lago-train/internal/blas"
)

func TestMain(m *testing.M) {
	info, err := blas.Use("")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if os.Getenv("LAGO_BENCH") != "" {
		fmt.Println("blas:", info)
	}
	os.Exit(m.Run())
}
