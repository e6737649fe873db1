package resnet

import (
	"os"
	"testing"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model/resnet/resnettest"
)

func TestMain(m *testing.M) {
	if _, err := blas.Use(""); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// formulaFile returns the tensors of an architecture with the weights of the reference.
func formulaFile(tb testing.TB, name string) *safetensors.File {
	tb.Helper()
	for _, a := range architectures {
		if a.name == name {
			f := &safetensors.File{}
			for _, b := range a.residual(false) {
				f.Tensors = append(f.Tensors, formulaBlock(b)...)
			}
			f.Tensors = append(f.Tensors, formulaLayer(stem)...)
			return f
		}
	}
	tb.Fatalf("no architecture %s", name)
	return nil
}

func formulaBlock(b block) []safetensors.Tensor {
	var list []safetensors.Tensor
	for _, l := range b.layers {
		list = append(list, formulaLayer(l)...)
	}
	if b.shortcut != nil {
		list = append(list, formulaLayer(*b.shortcut)...)
	}
	return list
}

func formulaLayer(l layer) []safetensors.Tensor {
	return resnettest.Layer(l.conv, l.norm, l.out, l.in, l.size, l.shortcut)
}
