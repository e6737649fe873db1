package problems

import (
	"errors"
	"fmt"

	"github.com/lago-train/lago-train/dataset"
)

// MaxOfKind is how many errors of one kind are told before they are only counted,
// as dataset.Check does.
const MaxOfKind = 5

// List gathers errors in the order in which they are added. The zero value is
// empty and ready to use.
type List struct {
	errs  []error
	kinds map[string]*kind
}

// kind is what came after the first errors of one kind.
type kind struct {
	n    int
	more *dataset.Error // in errs, nil until there is one too many
}

// Add adds an error of a kind, a word of the caller's choice that is the same for
// errors that one cause may give many of. Of one kind in one file the first
// MaxOfKind are told, and the others counted in one more error behind them.
func (l *List) Add(of string, e *dataset.Error) {
	if l.kinds == nil {
		l.kinds = make(map[string]*kind)
	}
	k := l.kinds[key(of, e.File)]
	if k == nil {
		k = new(kind)
		l.kinds[key(of, e.File)] = k
	}
	k.n++
	if k.n <= MaxOfKind {
		l.errs = append(l.errs, e)
		return
	}
	if k.more == nil {
		k.more = &dataset.Error{File: e.File}
		l.errs = append(l.errs, k.more)
	}
	k.more.Want = e.Want
	k.more.Got = fmt.Sprintf("%d more that differ, up to %s", k.n-MaxOfKind, e.Field)
}

// Full reports whether a further error of a kind and file would only be counted.
func (l *List) Full(of, file string) bool {
	k := l.kinds[key(of, file)]
	return k != nil && k.n >= MaxOfKind
}

func key(of, file string) string { return of + "\x00" + file }

// AddError adds an error that is alone of its kind; nil adds nothing.
func (l *List) AddError(err error) {
	if err != nil {
		l.errs = append(l.errs, err)
	}
}

// Len returns how many errors Err joins.
func (l *List) Len() int { return len(l.errs) }

// Err joins the errors; it is nil where there are none.
func (l *List) Err() error { return errors.Join(l.errs...) }
