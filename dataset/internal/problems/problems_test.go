package problems

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
)

func bad(file string, line int) *dataset.Error {
	return &dataset.Error{File: file, Field: fmt.Sprintf("line %d", line), Want: "a number", Got: fmt.Sprint("word ", line)}
}

func TestManyOfAKindAreCountedAndHideNoOthers(t *testing.T) {
	var l List
	for line := range 7 {
		l.Add("number", bad("a.csv", line))
	}
	if l.Full("number", "b.csv") || l.Full("name", "a.csv") || !l.Full("number", "a.csv") {
		t.Error("Full is of another kind or file")
	}
	l.Add("name", bad("a.csv", 1))
	l.Add("number", bad("b.csv", 0)) // another file has a cause of its own
	l.Add("number", bad("a.csv", 7)) // counted where the others are
	l.AddError(errors.New("alone"))
	l.AddError(nil)
	want := []string{
		"a.csv: line 0: expected a number, found word 0",
		"a.csv: line 1: expected a number, found word 1",
		"a.csv: line 2: expected a number, found word 2",
		"a.csv: line 3: expected a number, found word 3",
		"a.csv: line 4: expected a number, found word 4",
		"a.csv: expected a number, found 3 more that differ, up to line 7",
		"a.csv: line 1: expected a number, found word 1",
		"b.csv: line 0: expected a number, found word 0",
		"alone",
	}
	if diff := cmp.Diff(want, strings.Split(l.Err().Error(), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if l.Len() != len(want) {
		t.Errorf("Len is %d, expected %d", l.Len(), len(want))
	}
	var e *dataset.Error
	if !errors.As(l.Err(), &e) || e.Field != "line 0" {
		t.Errorf("errors.As finds %+v, expected the first", e)
	}
}

func TestOfNothingThereIsNoError(t *testing.T) {
	var l List
	if err := l.Err(); err != nil || l.Len() != 0 {
		t.Errorf("an empty list has %d errors: %v", l.Len(), err)
	}
}
