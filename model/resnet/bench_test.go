package resnet

import (
	"testing"

	"github.com/lago-train/lago-train/model/resnet/resnettest"

	"github.com/lago-train/lago-train/internal/blas"
)

// Milliseconds per image in batches of 8, as in reference.py --race resnet101.
func BenchmarkResNet101(b *testing.B) {
	for _, library := range []string{"", blas.PureGo} {
		info, err := blas.Use(library)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(info.Name, func(b *testing.B) {
			n, err := newNetwork(formulaFile(b, "resnet101"), nil)
			if err != nil {
				b.Fatal(err)
			}
			const samples = 8
			g, err := n.Graph(samples, 224)
			if err != nil {
				b.Fatal(err)
			}
			for i, u := range resnettest.Formula("images", len(g.Images.Data)) {
				g.Images.Data[i] = float32(u)
			}
			for b.Loop() {
				if _, err := g.Features(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*samples), "ms/image")
		})
	}
}
