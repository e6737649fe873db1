package invalid

import (
	"errors"
	"fmt"
)

// MaxOfKind is the number of errors of one kind that a List reports one by one. The
// rest are counted.
const MaxOfKind = 5

// List collects the errors of one or more files, so that all problems are reported at
// once and one cause with thousands of symptoms does not hide another. The zero value
// is empty and ready to use.
type List struct {
	errs  []error
	kinds map[kindKey]*kindCount
}

type kindKey struct{ kind, where string }

type kindCount struct {
	n    int
	rest *Error // in errs; counts the errors after the first MaxOfKind
}

// Add adds an error of a kind: a word that is the same for errors with one cause. Of
// one kind in one file the first MaxOfKind errors are kept, the others counted.
func (l *List) Add(kind string, e *Error) {
	if l.kinds == nil {
		l.kinds = make(map[kindKey]*kindCount)
	}
	key := kindKey{kind, e.Where}
	c := l.kinds[key]
	if c == nil {
		c = new(kindCount)
		l.kinds[key] = c
	}
	c.n++
	if c.n <= MaxOfKind {
		l.errs = append(l.errs, e)
		return
	}
	if c.rest == nil {
		c.rest = &Error{Where: e.Where}
		l.errs = append(l.errs, c.rest)
	}
	c.rest.Want = e.Want
	c.rest.Got = fmt.Sprintf("%d more, the last at %s", c.n-MaxOfKind, e.Field)
}

// Full reports whether a further error of a kind and file would only be counted.
func (l *List) Full(kind, where string) bool {
	c := l.kinds[kindKey{kind, where}]
	return c != nil && c.n >= MaxOfKind
}

// AddError adds an error that belongs to no kind; nil adds nothing.
func (l *List) AddError(err error) {
	if err != nil {
		l.errs = append(l.errs, err)
	}
}

// Len returns the number of errors that Err joins.
func (l *List) Len() int { return len(l.errs) }

// Err joins the errors; it is nil if there are none.
func (l *List) Err() error { return errors.Join(l.errs...) }
