package described

import (
	"errors"
	"fmt"

	"github.com/lago-train/lago-train/dataset"
)

// mostOfKind is how many mistakes of one kind are told before they are only
// counted, so that one cause with many symptoms does not bury the others.
const mostOfKind = 5

// mistakes are those of one kind.
type mistakes struct {
	kind  string
	first []error
	more  int
	last  string // where the last one is
}

// wrong notes a mistake in a line, counted from 1, or in the whole file, line 0.
func (f *file) wrong(kind string, line int, field, want, got string) {
	if line > 0 {
		at := fmt.Sprintf("line %d", line)
		if field != "" {
			at += ", " + field
		}
		field = at
	}
	f.note(kind, &dataset.Error{File: f.path, Field: field, Want: want, Got: got})
}

func (f *file) note(kind string, e *dataset.Error) {
	var k *mistakes
	for _, other := range f.mistakes {
		if other.kind == kind {
			k = other
		}
	}
	if k == nil {
		k = &mistakes{kind: kind}
		f.mistakes = append(f.mistakes, k)
	}
	if len(k.first) < mostOfKind {
		k.first = append(k.first, e)
		return
	}
	k.more++
	k.last = e.Field
}

// err joins the mistakes, nil where there are none.
func (f *file) err() error {
	var all []error
	for _, k := range f.mistakes {
		all = append(all, k.first...)
		if k.more > 0 {
			all = append(all, &dataset.Error{File: f.path, Got: fmt.Sprintf("%d more such, up to %s", k.more, k.last)})
		}
	}
	return errors.Join(all...)
}
