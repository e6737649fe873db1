package resnet

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/network/networktest"
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
	i := slices.IndexFunc(architectures, func(a architecture) bool { return a.name == name })
	f := &safetensors.File{}
	for _, l := range architectures[i].layers(false) {
		f.Tensors = append(f.Tensors, formulaLayer(l)...)
	}
	return f
}

func formulaLayer(l layer) []safetensors.Tensor {
	return networktest.Layer(l.conv, l.norm, l.out, l.in, l.size, l.shortcut)
}

// The features are those of PyTorch with weights by formula, given its crops of images. LAGO_PHOTOS adds ResNet-101.
func TestReferenceFeatures(t *testing.T) {
	shared := testkit.Shared(t, "resnet")
	for name, images := range map[string]int{"resnet18": 9, "resnet50": 2, "resnet101": 9} {
		t.Run(name, func(t *testing.T) {
			if name == "resnet101" && os.Getenv("LAGO_PHOTOS") == "" {
				t.Skip("LAGO_PHOTOS is not set")
			}
			n := testkit.Must(New(formulaFile(t, name), nil))(t)
			networktest.CheckFeatures(t, n, images, shared+"/crops", filepath.Join(shared, name+".npy"), 1e-5)
		})
	}
}

// Samples do not influence one another, and the same batch gives the same bits.
func TestSamplesAreIndependent(t *testing.T) {
	n := testkit.Must(New(formulaFile(t, "resnet18"), nil))(t)
	const size = 33 // odd at each stage
	g := testkit.Must(n.Graph(2, size))(t)
	run := func(second float32) []float32 {
		copy(g.Images.Row(0), networktest.Formula("image", size*size*3))
		for i := range g.Images.Row(1) {
			g.Images.Row(1)[i] = second
		}
		x := testkit.Must(g.Features())(t)
		return slices.Clone(x.Data)
	}
	first, again, other := run(1), run(1), run(-3)
	testkit.Equal(t, "the same batch", again, first)
	if !slices.Equal(first[:n.Dims()], other[:n.Dims()]) || slices.Equal(first, other) {
		t.Error("the features of a sample depend on the other one")
	}
	if _, err := n.Graph(1, MinSize-1); err == nil {
		t.Error("images of 31 pixels are accepted")
	}
}

func TestRecognisesArchitectures(t *testing.T) {
	for _, a := range architectures {
		names := map[string]bool{}
		for _, l := range a.layers(false) {
			names[l.conv+".weight"] = true
		}
		testkit.Equal(t, "network", recognise(func(name string) bool { return names[name] }).name, a.name)
	}
}

// The argument overrides the metadata.
func TestStrideIn1x1(t *testing.T) {
	yes := true
	for _, c := range []struct {
		network  int // of the architectures
		metadata map[string]string
		given    *bool
		want     bool
		fails    bool
	}{
		{2, nil, nil, false, false},
		{2, map[string]string{strideKey: "true"}, nil, true, false},
		{2, map[string]string{strideKey: "false"}, &yes, true, false},
		{2, map[string]string{strideKey: "maybe"}, nil, false, true},
		{0, map[string]string{strideKey: "true"}, nil, true, true},
	} {
		n := &Network{architecture: architectures[c.network]}
		if err := n.setStride(c.metadata, c.given); (err != nil) != c.fails || n.StrideIn1x1 != c.want {
			t.Errorf("%+v: %v, %v", c, n.StrideIn1x1, err)
		}
	}
}

func TestRefusesOtherFiles(t *testing.T) {
	set := func(name string, f32 []float32, shape ...int) func([]safetensors.Tensor) []safetensors.Tensor {
		return func(list []safetensors.Tensor) []safetensors.Tensor {
			list = slices.DeleteFunc(list, func(t safetensors.Tensor) bool { return t.Name == name })
			return append(list, safetensors.Tensor{Name: name, Shape: shape, F32: f32})
		}
	}
	zeros := make([]float32, 64*2*9)
	for _, c := range []struct {
		network string
		change  func([]safetensors.Tensor) []safetensors.Tensor
		want    string
	}{
		{"resnet18", func([]safetensors.Tensor) []safetensors.Tensor { return nil }, `tensor "conv1.weight": expected float32, float16 or bfloat16 of shape [64 3 7 7], as in resnet18, found none among the 0 tensors of the file. The networks are`},
		{"resnet50", set("layer1.0.conv2.weight", zeros, 64, 2, 3, 3), `tensor "layer1.0.conv2.weight": expected float32, float16 or bfloat16 of shape [64 64 3 3], as in resnet50, found shape [64 2 3 3]`},
		{"resnet34", set("layer4.2.se.fc1.weight", zeros[:1], 1), `tensor "layer4.2.se.fc1.weight": expected only tensors of resnet34`},
		{"resnet18", set("bn1.bias", nil, 64), `tensor "bn1.bias": expected float32, float16 or bfloat16 of shape [64], as in resnet18, found other numbers`},
		{"resnet18", set("bn1.bias", slices.Repeat([]float32{float32(math.NaN())}, 64), 64), `tensor "bn1.bias": expected finite numbers`},
		{"resnet18", set("bn1.running_var", slices.Repeat([]float32{-1}, 64), 64), `tensor "bn1.running_var": expected variances of 0 or more, found -1`},
	} {
		testkit.Fails(New(&safetensors.File{Tensors: c.change(formulaFile(t, c.network).Tensors)}, nil))(t, c.want)
	}
}

// The classifier and the counters of batches are ignored.
func TestIgnoredTensors(t *testing.T) {
	tensors := append(formulaFile(t, "resnet18").Tensors,
		safetensors.Tensor{Name: "fc.weight", Shape: []int{1, 512}, F32: make([]float32, 512)},
		safetensors.Tensor{Name: "bn1.num_batches_tracked", Shape: []int{1}, F32: make([]float32, 1)})
	if n, err := New(&safetensors.File{Tensors: tensors}, nil); err != nil || n.Name() != "resnet18" || n.Dims() != 512 {
		t.Errorf("%+v: %v", n, err)
	}
}

// Milliseconds per image in batches of 8, as in reference.py --race resnet101.
func BenchmarkResNet101(b *testing.B) {
	for _, library := range []string{"", blas.PureGo} {
		info := testkit.Must(blas.Use(library))(b)
		b.Run(info.Name, func(b *testing.B) {
			const samples = 8
			g := testkit.Must(testkit.Must(New(formulaFile(b, "resnet101"), nil))(b).Graph(samples, 224))(b)
			copy(g.Images.Data, networktest.Formula("images", len(g.Images.Data)))
			for b.Loop() {
				testkit.Must(g.Features())(b)
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*samples), "ms/image")
		})
	}
}
