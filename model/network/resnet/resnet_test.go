package resnet

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/testkit"
	_ "github.com/lago-train/lago-train/internal/testkit/fastblas" // for products
	"github.com/lago-train/lago-train/model/network"
	"github.com/lago-train/lago-train/model/network/networktest"
)

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

// naive is a convolution in float64, pixel by pixel, with the kernel as in files: out x in x size x size.
func naive(l layer, from array, x, kernel []float64) ([]float64, array) {
	to := from.strided(l.size, l.stride, l.pad, l.out)
	y := make([]float64, to.size())
	for p := range y {
		o, j, i, sample := p%l.out, p/l.out%to.w, p/l.out/to.w%to.h, p/l.out/to.w/to.h
		for c := range l.in {
			for r := range l.size {
				for s := range l.size {
					row, col := i*l.stride-l.pad+r, j*l.stride-l.pad+s
					if row < 0 || col < 0 || row >= from.h || col >= from.w {
						continue
					}
					y[p] += x[((sample*from.h+row)*from.w+col)*l.in+c] * kernel[((o*l.in+c)*l.size+r)*l.size+s]
				}
			}
		}
	}
	return y, to
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func TestConvolution(t *testing.T) {
	for _, c := range []struct {
		from array
		layer
	}{
		{array{2, 5, 7, 3}, layer{in: 3, out: 4, size: 7, stride: 2, pad: 3, withReLU: true}},
		{array{1, 6, 5, 8}, layer{in: 8, out: 5, size: 3, stride: 1, pad: 1}},
		{array{3, 7, 7, 4}, layer{in: 4, out: 6, size: 3, stride: 2, pad: 1, withReLU: true, shortcut: true}},
		{array{2, 4, 3, 6}, layer{in: 6, out: 7, size: 1, stride: 1, shortcut: true, withReLU: true}},
		{array{2, 5, 4, 6}, layer{in: 6, out: 3, size: 1, stride: 2}},
		{array{9, 16, 11, 4}, layer{in: 4, out: 8, size: 3, stride: 1, pad: 1}}, // several tiles
		{array{1, 1, 1, 2}, layer{in: 2, out: 2, size: 3, stride: 2, pad: 1}},
	} {
		t.Run(fmt.Sprintf("%v %dx%d/%d", c.from, c.size, c.size, c.stride), func(t *testing.T) {
			conv := newConvolution(c.layer, c.from)
			x, kernel, bias := networktest.Formula("x", c.from.size()), networktest.Formula("kernel", c.out*conv.depth()), networktest.Formula("bias", c.out)
			want, to := naive(c.layer, c.from, wide(x), wide(kernel))
			out := networktest.Formula("shortcut", to.size())
			for i := range want {
				want[i] += float64(bias[i%c.out])
				if c.shortcut {
					want[i] += float64(out[i])
				}
				if c.withReLU {
					want[i] = max(want[i], 0)
				}
			}
			kernel = channelsLast(kernel, c.layer)
			conv.forward(out, [][]float32{x, kernel, bias})
			testkit.NearAll(t, "result", out, want, 1e-5)
		})
	}
}

func TestPooling(t *testing.T) {
	from := array{2, 7, 5, 3}
	x := networktest.Formula("pooled", from.size())
	for i, v := range x {
		x[i] = max(v, 0) // as after a ReLU
	}
	to, maxima := maxPooling(from)
	got, want := make([]float32, to.size()), make([]float64, to.size())
	means := make([]float64, from.n*from.channels)
	for i, v := range x {
		c, col, row, sample := i%3, i/3%5, i/15%7, i/105
		means[sample*3+c] += float64(v) / 35
		for p := range want {
			if p%3 == c && p/3/to.w/to.h == sample && abs(p/3%to.w*2-col) <= 1 && abs(p/3/to.w%to.h*2-row) <= 1 {
				want[p] = max(want[p], float64(v))
			}
		}
	}
	maxima(got, [][]float32{x})
	testkit.NearAll(t, "maxima", got, want, 1e-5)

	mean := make([]float32, len(means))
	averagePooling(from)(mean, [][]float32{x})
	testkit.NearAll(t, "means", mean, means, 1e-5)
}

func abs(n int) int { return max(n, -n) }

// A block as a graph, with batch normalisation folded, is the block in float64 without.
func TestBlock(t *testing.T) {
	for _, c := range []struct {
		name        string
		arch        int
		block       int
		strideFirst bool
	}{
		{"two 3x3", 0, 0, false},
		{"two 3x3 with a stride", 0, 2, false},
		{"bottleneck with a projection", 2, 0, false},
		{"bottleneck with a stride in the 3x3", 2, 3, false},
		{"bottleneck with a stride in the 1x1", 2, 3, true},
		{"bottleneck", 2, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := architectures[c.arch].residual(c.strideFirst)[c.block]
			tensors := map[string][]float64{}
			f := &safetensors.File{}
			layers := slices.Clone(b.layers)
			if b.shortcut != nil {
				layers = append(layers, *b.shortcut)
			}
			for _, l := range layers {
				for _, t := range formulaLayer(l) {
					tensors[t.Name] = wide(t.F32)
					f.Tensors = append(f.Tensors, t)
				}
			}
			from := array{2, 6, 5, b.layers[0].in}
			x := networktest.Formula("block", from.size())
			build := &builder{Network: &Network{weights: map[string]folded{}}, Graph: network.NewGraph(1, 1, 1)}
			for i := range build.buffers {
				build.buffers[i] = make([]float32, 4*from.size())
			}
			copy(build.buffers[1], x)
			r := network.NewReader(f)
			for _, l := range layers {
				build.weights[l.conv] = fold(r, l)
			}
			testkit.NoError(t, r.Err)
			in := build.Input("x", build.buffers[1][:len(x)], from.n, from.h, from.w, from.channels)
			_, buffer, to := build.block(b, in, 1, from)
			build.Compile()
			testkit.Must(build.Features())(t)
			want, wantTo := naiveBlock(b, from, wide(x), tensors)
			if to != wantTo {
				t.Fatalf("size %v, expected %v", to, wantTo)
			}
			testkit.NearAll(t, "block", build.buffers[buffer][:to.size()], want, 1e-5)
		})
	}
}

func naiveBlock(b block, from array, x []float64, tensors map[string][]float64) ([]float64, array) {
	normalised := func(l layer, from array, x []float64) ([]float64, array) {
		y, to := naive(l, from, x, tensors[l.conv+".weight"])
		for i := range y {
			c := i % l.out
			y[i] = (y[i]-tensors[l.norm+".running_mean"][c])/math.Sqrt(tensors[l.norm+".running_var"][c]+1e-5)*
				tensors[l.norm+".weight"][c] + tensors[l.norm+".bias"][c]
		}
		return y, to
	}
	shortcut := x
	if b.shortcut != nil {
		shortcut, _ = normalised(*b.shortcut, from, x)
	}
	for _, l := range b.layers {
		x, from = normalised(l, from, x)
		for i := range x {
			if l.shortcut {
				x[i] += shortcut[i]
			}
			x[i] = max(x[i], 0)
		}
	}
	return x, from
}
