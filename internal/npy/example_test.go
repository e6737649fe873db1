package npy_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/internal/npy"
)

func ExampleOpen() {
	m, err := npy.Open(context.Background(), "testdata/f2.npy")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	row := make([]float32, m.Cols)
	if err := m.ReadRows(1, row); err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Rows, "x", m.Cols, "with row 1", row)
	// Output: 5 x 3 with row 1 [3.25 4 5]
}
