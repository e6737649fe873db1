package blas_test

import (
	"fmt"
	"log"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/internal/blas"
)

func Example() {
	info, err := blas.Use(blas.PureGo)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Name)

	// From here on, gonum and Gorgonia multiply with it.
	a := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}
	c := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float32, 4)}
	blas32.Gemm(gonum.NoTrans, gonum.NoTrans, 1, a, a, 0, c)
	fmt.Println(c.Data)
	// Output:
	// gonum
	// [7 10 15 22]
}
