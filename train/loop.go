package train

import (
	"context"
	"errors"

	"github.com/lago-train/lago-train/model"
)

// Status says why a run ended.
type Status string

// The ways to end.
const (
	Patience  Status = "patience"   // no better validation accuracy for as many epochs as the patience
	Epochs    Status = "epochs"     // all epochs were run
	Converged Status = "converged"  // a further epoch would change nothing: a closed form, or an optimum
	NotFinite Status = "not finite" // a term of the loss or a parameter was NaN or infinite
	Failed    Status = "failed"     // the data and the settings do not go together, or an optimum was not found
	Cancelled Status = "cancelled"  // interrupted; the run resumes from its checkpoint
)

// bestEpoch is the first epoch with the highest validation accuracy so far.
type bestEpoch struct {
	Epoch    int     `json:"epoch"` // 0 before the first
	Accuracy float64 `json:"accuracy"`
}

// accuracyError bounds the rounding error of an accuracy, a mean over classes. It is far
// less than one sample can change.
const accuracyError = 1e-12

// improve reports whether an epoch is the best so far, and records it if so.
func (b *bestEpoch) improve(epoch int, accuracy float64) bool {
	if b.Epoch > 0 && accuracy <= b.Accuracy+accuracyError {
		return false
	}
	*b = bestEpoch{epoch, accuracy}
	return true
}

// loop trains any method: epoch after epoch until it ends for one of the reasons of
// Status.
type loop struct {
	settings  Training
	curve     Curve
	top       bestEpoch // none without val classes
	converged bool

	// OnEpoch is called after each epoch; an error ends the run.
	OnEpoch func(Epoch) error
}

// learner is what a loop drives.
type learner interface {
	// epoch trains and evaluates an epoch. converged is true if a further one would change
	// nothing.
	epoch(number int) (e Epoch, converged bool, err error)
	// keep keeps the parameters of the last epoch as the best so far.
	keep()
}

// run trains until the run ends. A cancelled context ends it after the current epoch.
func (l *loop) run(ctx context.Context, what learner) (Status, error) {
	for {
		if status, done := l.done(); done {
			return status, nil
		}
		if ctx.Err() != nil {
			return Cancelled, nil
		}
		if err := l.step(what); err != nil {
			if nf := (*model.NotFinite)(nil); errors.As(err, &nf) {
				return NotFinite, err
			}
			return Failed, err
		}
		if l.OnEpoch != nil {
			if err := l.OnEpoch(l.curve[len(l.curve)-1]); err != nil {
				return "", err
			}
		}
	}
}

func (l *loop) done() (Status, bool) {
	epochs := len(l.curve)
	switch {
	case l.converged:
		return Converged, true
	case l.top.Epoch > 0 && epochs-l.top.Epoch >= l.settings.Patience:
		return Patience, true
	case epochs >= l.settings.Epochs:
		return Epochs, true
	}
	return "", false
}

// step trains an epoch and keeps its parameters if it is the best.
func (l *loop) step(what learner) error {
	e, converged, err := what.epoch(len(l.curve) + 1)
	if err != nil {
		return err
	}
	if e.ValAccuracy != nil && l.top.improve(e.Epoch, *e.ValAccuracy) {
		what.keep()
	}
	l.converged = converged
	l.curve = append(l.curve, e)
	return nil
}

// history returns the loop of a trainer.
func (l *loop) history() *loop { return l }

// keptEpoch returns the epoch whose parameters were kept: the last if there are no val
// classes.
func (l *loop) keptEpoch() int {
	if l.top.Epoch == 0 {
		return len(l.curve)
	}
	return l.top.Epoch
}
