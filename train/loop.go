package train

import (
	"context"
	"errors"

	"github.com/lago-train/lago-train/model"
)

// loop is how every method is trained: an epoch after the other, until the val
// classes no longer gain, all epochs are run, nothing changes any more, or somebody
// ends it.
type loop struct {
	settings  Training
	curve     Curve
	best      best // epoch by val accuracy, none without val classes
	converged bool // a further epoch would change nothing

	// OnEpoch hears of each epoch once it is over; an error ends the run.
	OnEpoch func(Epoch) error
}

// learning is what a loop drives.
type learning interface {
	// epoch trains an epoch, the one of the number given, and judges it. converged is
	// true where a further one would change nothing.
	epoch(number int) (e Epoch, converged bool, err error)
	// keep keeps what the last epoch learned as the best so far.
	keep()
}

// run trains until an epoch ends it, and says why. A cancelled context ends it after
// the epoch at hand.
func (l *loop) run(ctx context.Context, what learning) (Status, error) {
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
			return "", err
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
	case l.best.Epoch > 0 && epochs-l.best.Epoch >= l.settings.Patience:
		return Patience, true
	case epochs >= l.settings.Epochs:
		return Epochs, true
	}
	return "", false
}

// step trains an epoch and keeps what it learned where it is the best.
func (l *loop) step(what learning) error {
	e, converged, err := what.epoch(len(l.curve) + 1)
	if err != nil {
		return err
	}
	if e.ValAccuracy != nil && l.best.improve(e.Epoch, *e.ValAccuracy) {
		what.keep()
	}
	l.converged = converged
	l.curve = append(l.curve, e)
	return nil
}

// history returns the loop, for what reads and restores it.
func (l *loop) history() *loop { return l }

// bestEpoch is the one whose weights were kept: the last where no val classes chose.
func (l *loop) bestEpoch() int {
	if l.best.Epoch == 0 {
		return len(l.curve)
	}
	return l.best.Epoch
}
