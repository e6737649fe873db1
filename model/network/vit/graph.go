package vit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model/network"
)

// maxTokens bounds the memory of attention: scores of tokens x tokens in each thread. At 1024
// pixels, patches of 14 pixels give 5,330 tokens.
const maxTokens = 1 << 13

func (n *Network) Graph(samples, size int) (*network.Graph, error) {
	if size < n.patch || size%n.patch != 0 {
		return nil, invalid.Expected("size", size, "a multiple of the %d pixels of a patch of %s", n.patch,
			n.name)
	}
	side := size / n.patch
	if side*side >= maxTokens {
		return nil, invalid.Expected("size", size, "at most %d pixels, since patches of %s have %d",
			int(math.Sqrt(maxTokens-1))*n.patch, n.name, n.patch)
	}
	b := &builder{
		Network: n, Graph: network.NewGraph(samples, size, n.Dims()), samples: samples, tokens: 1 + side*side,
	}
	rows, d := samples*b.tokens, n.width
	b.x, b.y = make([]float32, rows*d), make([]float32, rows*d)
	b.wide = make([]float32, rows*max(4*d, n.patches.in))
	x := b.embed(side)
	if n.before != nil {
		x = b.apply("norm before the layers", b.x, d, b.normalise(*n.before), x)
	}
	for i, l := range n.layers {
		x = b.layer(fmt.Sprintf("layer %d", i), l, x)
	}
	b.readOut(x)
	b.Compile()
	return b.Graph, nil
}

// builder adds the ops of a network to a graph. They write to three buffers in turn: the tokens x,
// a normalised copy or the result of attention y, and the wider results of two products.
type builder struct {
	*Network
	*network.Graph
	samples, tokens int
	x, y, wide      []float32
}

// apply adds an op with one row of a width for each token, in a buffer.
func (b *builder) apply(name string, buffer []float32, width int, f network.Forward,
	inputs ...*G.Node,
) *G.Node {
	rows := b.samples * b.tokens
	return network.Apply(name, network.Dense(buffer[:rows*width], rows, width), f, inputs...)
}

// embed makes the class token and the patches, with their positions.
func (b *builder) embed(side int) *G.Node {
	d, patch, depth := b.width, b.patch, b.patches.in
	line := 3 * side * patch // values of a line of pixels
	positions := b.resampled(side)
	pixels := b.Input("images", b.Images.Data, b.samples, side*patch, side*patch, 3)
	patches := network.Apply("patches", network.Dense(b.wide[:b.samples*side*side*depth], b.samples*side*side,
		depth), func(out []float32, in [][]float32) {
		parallel.For(b.samples*side, 4, func(lo, hi int) {
			for row := lo; row < hi; row++ { // of patches
				for i := range side {
					to := out[(row*side+i)*depth:]
					for j := range patch {
						copy(to[3*patch*j:3*patch*(j+1)], in[0][(row*patch+j)*line+3*patch*i:])
					}
				}
			}
		})
	}, pixels)
	return b.apply("tokens", b.x, d, func(out []float32, in [][]float32) {
		for s := range b.samples {
			from, to := in[0][s*side*side*depth:], out[s*b.tokens*d:(s+1)*b.tokens*d]
			copy(to, positions)
			for c, v := range b.Network.class {
				to[c] += v
			}
			multiply(to[d:], from, b.patches, b.tokens-1, 1)
		}
	}, patches)
}

// multiply writes x W' + beta y + bias to y, of a number of rows.
func multiply(y, x []float32, l linear, rows int, beta float32) {
	blas32.Implementation().
		Sgemm(blas.NoTrans, blas.Trans, rows, l.out, l.in, 1, x, l.in, l.weight, l.in, beta, y, l.out)
	if l.bias == nil {
		return
	}
	parallel.For(rows, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := y[i*l.out : (i+1)*l.out]
			for j, v := range l.bias {
				row[j] += v
			}
		}
	})
}

func (b *builder) normalise(n norm) network.Forward {
	return func(out []float32, in [][]float32) { layerNorm(out, in[0], n, b.epsilon) }
}

// layerNorm normalises each row of x to mean 0 and variance 1, and scales it.
func layerNorm(out, x []float32, n norm, epsilon float64) {
	d := len(n.weight)
	parallel.For(len(x)/d, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, to := x[i*d:(i+1)*d], out[i*d:(i+1)*d]
			var sum, squares float64
			for _, v := range row {
				sum += float64(v)
			}
			mean := sum / float64(d)
			for _, v := range row {
				squares += (float64(v) - mean) * (float64(v) - mean)
			}
			scale, shift := float32(1/math.Sqrt(squares/float64(d)+epsilon)), float32(mean)
			for c, v := range row {
				to[c] = (v-shift)*scale*n.weight[c] + n.bias[c]
			}
		}
	})
}

// layer adds attention and MLP to the tokens in x.
func (b *builder) layer(name string, l layer, x *G.Node) *G.Node {
	d, rows := b.width, b.samples*b.tokens
	product := func(part string, to []float32, m linear, beta float32, inputs ...*G.Node) *G.Node {
		weight := b.Input(name+", "+part+" weight", m.weight, m.out, m.in)
		return b.apply(name+", "+part, to, m.out, func(out []float32, in [][]float32) {
			multiply(out, in[0], m, rows, beta)
		}, append(inputs, weight)...)
	}
	y := b.apply(name+", norm 1", b.y, d, b.normalise(l.norm1), x)
	qkv := product("query, key and value", b.wide, l.qkv, 0, y)
	y = b.apply(name+", attention", b.y, d, b.attention(), qkv)
	x = product("attention output", b.x, l.out, 1, y, x)
	y = b.apply(name+", norm 2", b.y, d, b.normalise(l.norm2), x)
	hidden := product("MLP 1", b.wide, l.fc1, 0, y)
	hidden = b.apply(name+", activation", b.wide, 4*d, func(out []float32, _ [][]float32) {
		parallel.For(len(out), 1<<14, func(lo, hi int) { b.activation.apply(out[lo:hi]) })
	}, hidden)
	return product("MLP 2", b.x, l.fc2, 1, hidden, x)
}

// attention computes softmax(q k' / 8) v of each head of each sample.
func (b *builder) attention() network.Forward {
	d, t, heads := b.width, b.tokens, b.width/headDims
	return func(out []float32, in [][]float32) {
		parallel.For(b.samples*heads, 1, func(lo, hi int) {
			scores := make([]float32, t*t)
			for i := lo; i < hi; i++ {
				sample, at := i/heads, i%heads*headDims
				qkv := in[0][sample*t*3*d+at:]
				blas32.Implementation().Sgemm(blas.NoTrans, blas.Trans, t, t, headDims,
					1/float32(math.Sqrt(headDims)), qkv, 3*d, qkv[d:], 3*d, 0, scores, t)
				for row := range t {
					softmax(scores[row*t : (row+1)*t])
				}
				blas32.Implementation().Sgemm(blas.NoTrans, blas.NoTrans, t, headDims, t, 1, scores, t,
					qkv[2*d:], 3*d, 0, out[sample*t*d+at:], d)
			}
		})
	}
}

func softmax(row []float32) {
	top := row[0]
	for _, v := range row {
		if v > top {
			top = v
		}
	}
	var sum float32
	for i, v := range row {
		e := matrix.Exp32(v - top)
		row[i] = e
		sum += e
	}
	scale := 1 / sum
	for i := range row {
		row[i] *= scale
	}
}

// readOut normalises the class token of each sample, and projects it.
func (b *builder) readOut(x *G.Node) {
	d := b.width
	network.Apply("features", b.Output(), func(out []float32, in [][]float32) {
		tokens := b.y[:b.samples*d]
		for s := range b.samples {
			copy(tokens[s*d:(s+1)*d], in[0][s*b.tokens*d:])
		}
		if b.projection == nil {
			layerNorm(out, tokens, b.last, b.epsilon)
			return
		}
		layerNorm(tokens, tokens, b.last, b.epsilon)
		multiply(out, tokens, *b.projection, b.samples, 0)
	}, x)
}

// activation is x f(x) for a function f that rises from 0 to 1, by cubic interpolation in a table,
// whose error is below the rounding of float32.
type activation struct {
	most  float64 // f is 1 from here on, and 0 below its negative
	table [][2]float32
}

// steps is the number of entries per unit of a table.
const steps = 64

func newActivation(most float64, f, slope func(x float64) float64) *activation {
	a := &activation{most, make([][2]float32, int(2*most*steps)+2)}
	for i := range a.table {
		x := float64(i)/steps - most
		a.table[i] = [2]float32{float32(f(x)), float32(slope(x) / steps)}
	}
	return a
}

// gelu is x Phi(x), quickGELU x sigmoid(1.702 x).
var (
	gelu = newActivation(7, func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 },
		func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) })
	quickGELU = newActivation(14, func(x float64) float64 { return 1 / (1 + math.Exp(-1.702*x)) },
		func(x float64) float64 { return 1.702 / (2 + math.Exp(1.702*x) + math.Exp(-1.702*x)) })
)

// apply replaces each x by x f(x).
func (a *activation) apply(x []float32) {
	most := float32(a.most)
	for i, v := range x {
		switch {
		case v >= most || v != v:
		case v <= -most:
			x[i] = 0
		default:
			at := (v + most) * steps
			k := int(at)
			t := at - float32(k)
			from, to := a.table[k], a.table[k+1]
			// Hermite's polynomial of both values and slopes.
			rise := to[0] - from[0]
			c := 3*rise - 2*from[1] - to[1]
			x[i] = v * (from[0] + t*(from[1]+t*(c+t*(from[1]+to[1]-2*rise))))
		}
	}
}
