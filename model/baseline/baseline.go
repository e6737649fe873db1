package baseline

import (
	"math/rand/v2"
	"sync"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
)

// Hyperparameters are the settings of one method: a struct that can be compared with
// ==, whose JSON keys are the names of Settings.
type Hyperparameters interface {
	// Settings lists the hyperparameters with their valid and their searched values.
	Settings() []Setting
	// Learn returns a learner before its first epoch. The hyperparameters are valid, and
	// there are examples.
	Learn(e Examples, seed uint64) (Learner, error)
	// Restore returns the model with the given tensors. The error is an
	// *invalid.Error that names the tensor.
	Restore(t Tensors) (Model, error)
}

// Learner is a method in training.
type Learner interface {
	// Epoch trains on every example once; epoch counts from 1. All randomness follows
	// from the seed and the epoch, so that training can resume from a State. It
	// returns the mean loss of the examples, and whether training has converged. The
	// error is a *model.NotFinite if a number is out of range.
	Epoch(epoch int) (loss float64, converged bool, err error)
	// Model returns the current model, valid until the next epoch.
	Model() Model
	// State returns the tensors that one epoch passes to the next, at their final
	// sizes from the start. Copying the State of a learner of the same examples and
	// hyperparameters into it resumes that learner's training.
	State() Tensors
}

// Model is a trained method. Its scores need not be probabilities.
type Model interface {
	model.Classifier
	// Tensors returns the parameters of the model, without copying them.
	Tensors() Tensors
}

// Examples are the training samples and the descriptions of their classes.
type Examples struct {
	X      dataset.Matrix[float32] // features, samples x D; shared, never written
	Rows   []int                   // the rows of X to train on
	Labels []int                   // for each of Rows, a row of U
	U      dataset.Matrix[float64] // Z x M, NaN where an attribute is not described

	// Cache, if not nil, keeps what learners of the same examples have in common.
	Cache *Cache
}

// Learn checks the hyperparameters and returns a learner. The error is an *invalid.Error,
// also if there are no examples.
func Learn(h Hyperparameters, e Examples, seed uint64) (Learner, error) {
	if err := Check(h); err != nil {
		return nil, err
	}
	if len(e.Rows) == 0 {
		return nil, &invalid.Error{Field: "samples", Want: "at least one training sample", Got: "none"}
	}
	return h.Learn(e, seed)
}

// FitOnce returns the learner of a method that reaches its optimum in one epoch: fit
// writes the parameters of m and returns the mean loss of the examples.
func FitOnce(m Model, fit func() (loss float64, err error)) Learner { return &once{m, fit} }

type once struct {
	model Model
	fit   func() (loss float64, err error)
}

func (o *once) Epoch(int) (loss float64, converged bool, err error) {
	loss, err = o.fit()
	return loss, err == nil, err
}

func (o *once) Model() Model   { return o.model }
func (o *once) State() Tensors { return o.model.Tensors() }

// Shuffled returns 0..n-1 in an order that follows from the seed and the epoch.
func Shuffled(n int, seed uint64, epoch int) []int {
	return rand.New(rand.NewPCG(seed, uint64(epoch))).Perm(n)
}

// Cache keeps values by key; each is computed once. The zero value is empty and ready to
// use, also by several goroutines.
type Cache struct {
	mu     sync.Mutex
	values map[any]func() (any, error)
}

// Cached returns the value of a key, computing it if it is missing. Keys have a type of
// their own in each method. Without a cache (nil) the value is computed.
func Cached[T any](c *Cache, key any, compute func() (T, error)) (T, error) {
	if c == nil {
		return compute()
	}
	c.mu.Lock()
	if c.values == nil {
		c.values = map[any]func() (any, error){}
	}
	once, ok := c.values[key]
	if !ok {
		once = sync.OnceValues(func() (any, error) { return compute() })
		c.values[key] = once
	}
	c.mu.Unlock()
	v, err := once()
	if err != nil {
		var none T
		return none, err
	}
	return v.(T), nil
}
