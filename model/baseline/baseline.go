package baseline

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
)

// Learner is a method while it learns from examples.
type Learner interface {
	// Epoch learns from every example once; epoch counts from 1. All that is random
	// in it follows from the seed and this number, so that training goes on from a
	// State as if it had not been interrupted. It returns the mean loss of the
	// examples, and whether a further epoch would change nothing. The error is a
	// *model.NotFinite where the numbers went out of range.
	Epoch(epoch int) (loss float64, done bool, err error)
	// Model is what was learned so far, valid until the next epoch.
	Model() Model
	// State is the memory that one epoch hands to the next. It is there, in its
	// final sizes, from the start; writing into it takes training up where another
	// learner of the same examples and settings left it.
	State() Tensors
}

// Hyperparameters are what one method is told beside the examples: a struct that can be
// compared with ==, whose JSON names the settings.
type Hyperparameters interface {
	// Check returns a *invalid.Error that names the first setting that won't do.
	Check() error
	// Learn returns a learner before its first epoch.
	Learn(e Examples, seed uint64) (Learner, error)
	// Restore returns the model that has the given Tensors.
	Restore(t Tensors) (Model, error)
}

// Model is a trained method. Its scores need not be probabilities.
type Model interface {
	model.TwoStage
	// Tensors are what the model is made of, sharing its memory.
	Tensors() Tensors
}

// Examples are what a method learns from: some rows of the features, a class each,
// and descriptions of these classes.
type Examples struct {
	X      dataset.Matrix[float32] // shared, never written
	Rows   []int                   // the rows of X that are meant
	Labels []int                   // for each of them, a row of U
	U      dataset.Matrix[float64] // Z x M, NaN where an attribute is not described

	// Cache keeps what every learner of the same examples computes alike; it may
	// be nil.
	Cache *Cache
}

// Check returns an error where the examples are none, or their sizes don't agree.
func (e Examples) Check() error {
	if len(e.Rows) == 0 {
		return &invalid.Error{Field: "samples", Want: "at least one to learn from", Got: fmt.Sprint(0)}
	}
	if len(e.Labels) != len(e.Rows) {
		return &invalid.Error{Field: "labels", Want: fmt.Sprintf("one for each of the %d samples", len(e.Rows)), Got: fmt.Sprint(len(e.Labels))}
	}
	for _, z := range e.Labels {
		if z < 0 || z >= e.U.Rows {
			return &invalid.Error{Field: "labels", Want: fmt.Sprintf("classes from 0 to %d", e.U.Rows-1), Got: fmt.Sprint(z)}
		}
	}
	return nil
}

// Cache keeps values by key, each made once.
type Cache struct {
	mu     sync.Mutex
	values map[any]func() (any, error)
}

// Cached returns the value of a key, making it where it is not there yet. Keys are
// of a type of the method's own.
func Cached[T any](s *Cache, key any, make_ func() (T, error)) (T, error) {
	if s == nil {
		return make_()
	}
	s.mu.Lock()
	if s.values == nil {
		s.values = map[any]func() (any, error){}
	}
	once, ok := s.values[key]
	if !ok {
		once = sync.OnceValues(func() (any, error) { return make_() })
		s.values[key] = once
	}
	s.mu.Unlock()
	v, err := once()
	if err != nil {
		var none T
		return none, err
	}
	return v.(T), nil
}

// Shuffled returns 0..n-1 in an order that follows from the seed and the epoch.
func Shuffled(n int, seed uint64, epoch int) []int {
	return rand.New(rand.NewPCG(seed, uint64(epoch))).Perm(n)
}

// Axis is a setting and the values that are worth trying.
type Axis struct {
	Setting string // its name in JSON
	Values  []any
}
