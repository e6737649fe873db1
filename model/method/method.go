// Package method defines what all methods have in common, LAGO and the baselines: a Method
// with its settings makes a Learner, which is trained one epoch at a time on Examples, and
// whose Model scores samples for any described classes.
//
// LAGO is in package train/lago and the baselines are in the packages below model/baseline.
// Package train/methods lists them.
package method

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
)

// Method is a method with its settings: a pointer to a struct of them.
type Method interface {
	// Settings lists the settings, bound to the fields of the method.
	Settings() setting.List
	// Learn returns a learner before its first epoch. The settings are valid, and there are examples.
	Learn(e Examples, seed uint64) (Learner, error)
	// Restore returns the trained model whose tensors are read. The error is an *invalid.Error that names
	// the tensor.
	Restore(r *Reader, s Shape) (Model, error)
}

// Shape is what a model must fit.
type Shape struct {
	Dims       int   // D, of the preprocessed features
	Attributes int   // M
	Groups     []int // M, the group of each attribute by the data set, nil if it has none
}

// Learner is a method in training.
type Learner interface {
	// Epoch trains on every example once; number counts from 1. All randomness follows from
	// the seed and the number, so that training can resume from a State. The error is a
	// *model.NotFinite if a number is out of range.
	Epoch(number int) (Progress, error)
	// Model returns the current model, valid until the next epoch.
	Model() Model
	// State returns the tensors that one epoch passes to the next, at their final sizes
	// from the start. Copying the State of a learner of the same examples and settings into
	// it resumes that learner's training.
	State() Tensors
}

// Progress is the result of an epoch.
type Progress struct {
	Phases    []Phase
	Converged bool // a further epoch would change nothing
}

// Phase is a part of an epoch: that of W or of V of LAGO, or the only one. The loss and its
// terms are means over samples, each at the step that used the sample.
type Phase struct {
	Name    string      `json:"name"` // W, V or the method
	Steps   int         `json:"steps"`
	Seconds float64     `json:"seconds"`
	Loss    float64     `json:"loss"`
	Terms   model.Terms `json:"terms"`
}

// Model is a trained method, for preprocessed features and imputed descriptions. Its scores
// need not be probabilities.
type Model interface {
	model.Classifier
	// Tensors returns the parameters of the model, without copying them.
	Tensors() Tensors
}

// Examples are the training samples and the descriptions of their classes.
type Examples struct {
	X      dataset.Matrix[float32] // preprocessed features, samples x D; shared, never written
	Rows   []int                   // the rows of X to train on
	Labels []int                   // for each of Rows, a row of U
	U      dataset.Matrix[float64] // Z x M, imputed; NaN where no class describes an attribute
	Groups []int                   // M, the group of each attribute by the data set, nil if it has none

	// Cache, if not nil, keeps what learners of the same examples have in common while the examples
	// are in memory, and Fits small fits also after that.
	Cache, Fits *Cache
}

// Shape is what a model of the examples must fit.
func (e Examples) Shape() Shape { return Shape{e.X.Cols, e.U.Cols, e.Groups} }

// Learn checks the settings and returns a learner. The error is an *invalid.Error, also if
// there are no examples.
func Learn(m Method, e Examples, seed uint64) (Learner, error) {
	if err := m.Settings().Check(); err != nil {
		return nil, err
	}
	if len(e.Rows) == 0 {
		return nil, invalid.Expected("samples", "none", "at least one training sample")
	}
	return m.Learn(e, seed)
}

// Shuffled returns 0..n-1 in an order that follows from the seed and the epoch alone, so that a resumed
// run is bit-identical to an uninterrupted one.
func Shuffled(n int, seed uint64, epoch int) []int {
	return rand.New(rand.NewPCG(seed, uint64(epoch))).Perm(n)
}

// Tensor is a named matrix of a model or of a learner's state.
type Tensor struct {
	Name   string
	Matrix dataset.Matrix[float32]
}

// Tensors are tensors with unique names.
type Tensors []Tensor

// Clone copies the tensors.
func (t Tensors) Clone() Tensors {
	c := make(Tensors, len(t))
	for i, from := range t {
		c[i] = Tensor{from.Name, dataset.NewMatrix[float32](from.Matrix.Rows, from.Matrix.Cols)}
	}
	c.Set(t)
	return c
}

// Set copies the values of tensors of the same sizes.
func (t Tensors) Set(from Tensors) {
	for i := range t {
		copy(t[i].Matrix.Data, from[i].Matrix.Data)
	}
}

// Vector returns a tensor of one row.
func Vector(name string, data []float32) Tensor {
	return Tensor{name, dataset.Matrix[float32]{Rows: 1, Cols: len(data), Data: data}}
}

// Reader reads the tensors of a model by name.
type Reader struct {
	Tensors Tensors
	New     bool  // for a model before training, whose tensors are made of zeros where they are asked for
	Err     error // the first problem, an *invalid.Error that names the tensor
}

// Get returns the matrix with the given name and size, or an empty one if there is none;
// -1 stands for any size above 0.
func (r *Reader) Get(name string, rows, cols int) dataset.Matrix[float32] {
	if r.New {
		r.Tensors = append(r.Tensors, Tensor{name, dataset.NewMatrix[float32](rows, cols)})
	}
	fits := func(want, got int) bool { return got == want || want < 0 && got > 0 }
	e := &invalid.Error{
		Field: "tensor " + name, Got: "none",
		Want: strings.ReplaceAll(fmt.Sprintf("a matrix of %d x %d", rows, cols), "-1", "any"),
	}
	if i := slices.IndexFunc(r.Tensors, func(t Tensor) bool { return t.Name == name }); i >= 0 {
		m := r.Tensors[i].Matrix
		at := matrix.NotFinite(m.Data)
		switch {
		case !fits(rows, m.Rows) || !fits(cols, m.Cols) || len(m.Data) != m.Rows*m.Cols:
			e.Got = fmt.Sprintf("%d x %d", m.Rows, m.Cols)
		case at >= 0:
			e.Want, e.Got = "finite numbers", fmt.Sprint(m.Data[at])
		default:
			return m
		}
	}
	r.Err = cmp.Or(r.Err, error(e))
	return dataset.Matrix[float32]{}
}

// Cache keeps values by key; each is computed once. The zero value is empty and ready to
// use, also by several goroutines.
type Cache struct{ values sync.Map } // of func() (T, error)

// Cached returns the value of a key, computing it if it is missing. Each use has its own type
// of key. Without a cache (nil) the value is computed.
func Cached[T any](c *Cache, key any, compute func() (T, error)) (T, error) {
	if c == nil {
		return compute()
	}
	once, _ := c.values.LoadOrStore(key, sync.OnceValues(compute))
	return once.(func() (T, error))()
}
