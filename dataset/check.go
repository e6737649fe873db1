package dataset

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/lago-train/lago-train/internal/invalid"
)

// maxOfKind is how many errors of one kind Check reports before it only counts
// them, so that one cause with thousands of symptoms does not bury the others.
const maxOfKind = 5

// Check reports everything that would make training on d fail or mislead, as
// errors of type *invalid.Error joined into one; it returns nil where d is sound. Each
// kind of problem names its first few places and counts the others.
func Check(d *Dataset) error {
	// The other checks index by these sizes.
	if errs := firstFew(d.Name, sizes(d)); len(errs) > 0 {
		return errors.Join(errs...)
	}
	var errs []error
	for _, check := range []func(*Dataset) iter.Seq[invalid.Error]{
		classNames,
		labelsInRange,
		splitInRange,
		partsNotEmpty,
		partsDisjoint,
		partsOrdered,
		testSeenOfSeenClasses,
		classesHaveSamples,
		classesDescribed,
		descriptionsAreProbabilities,
		attributesGrouped,
		groupsNotEmpty,
		featuresFinite,
	} {
		errs = append(errs, firstFew(d.Name, check(d))...)
	}
	return errors.Join(errs...)
}

// firstFew returns the first errors of one kind, and one that counts the rest.
func firstFew(file string, found iter.Seq[invalid.Error]) []error {
	var errs []error
	var last invalid.Error
	n := 0
	for e := range found {
		n++
		e.Where = file
		if n <= maxOfKind {
			errs = append(errs, &e)
		}
		last = e
	}
	if n > maxOfKind {
		errs = append(errs, &invalid.Error{Where: file, Want: last.Want, Got: fmt.Sprintf("%d more, the last at %s", n-maxOfKind, last.Field)})
	}
	return errs
}

func sizes(d *Dataset) iter.Seq[invalid.Error] {
	return func(yield func(invalid.Error) bool) {
		for _, s := range []struct {
			field, want string
			got, must   int
		}{
			{"features", "values for samples x dimensions", len(d.Features.Data), d.Features.Rows * d.Features.Cols},
			{"features", "samples, one for each label", d.Features.Rows, len(d.Labels)},
			{"descriptions", "values for classes x attributes", len(d.Descriptions.Data), d.Descriptions.Rows * d.Descriptions.Cols},
			{"descriptions", "rows, one for each class", d.Descriptions.Rows, len(d.Classes)},
			{"descriptions", "columns, one for each attribute", d.Descriptions.Cols, len(d.Attributes)},
		} {
			if s.got != s.must && !yield(invalid.Error{Field: s.field, Want: fmt.Sprintf("%d %s", s.must, s.want), Got: fmt.Sprint(s.got)}) {
				return
			}
		}
		for _, s := range []struct {
			field string
			n     int
		}{
			{"samples", d.Features.Rows},
			{"dimensions of the features", d.Features.Cols},
			{"classes", len(d.Classes)},
			{"attributes", len(d.Attributes)},
		} {
			if s.n < 1 && !yield(invalid.Error{Field: s.field, Want: "at least one", Got: fmt.Sprint(s.n)}) {
				return
			}
		}
	}
}

func classNames(d *Dataset) iter.Seq[invalid.Error] {
	return func(yield func(invalid.Error) bool) {
		first := make(map[string]int, len(d.Classes))
		for z, name := range d.Classes {
			e := invalid.Error{Field: fmt.Sprintf("class %d", z), Want: "a name of its own"}
			other, taken := first[name]
			switch {
			case name == "":
				e.Got = "an empty name"
			case taken:
				e.Got = fmt.Sprintf("%q, which is class %d as well", name, other)
			default:
				first[name] = z
				continue
			}
			if !yield(e) {
				return
			}
		}
	}
}

func labelsInRange(d *Dataset) iter.Seq[invalid.Error] {
	return func(yield func(invalid.Error) bool) {
		for i, z := range d.Labels {
			if d.hasClass(z) {
				continue
			}
			if !yield(invalid.Error{
				Field: fmt.Sprintf("label of sample %d", i),
				Want:  fmt.Sprintf("a class from 0 to %d", len(d.Classes)-1),
				Got:   fmt.Sprint(z),
			}) {
				return
			}
		}
	}
}

func descriptionsAreProbabilities(d *Dataset) iter.Seq[invalid.Error] {
	return func(yield func(invalid.Error) bool) {
		for z := range d.Classes {
			for m, p := range d.Descriptions.Row(z) {
				if math.IsNaN(p) || p >= 0 && p <= 1 {
					continue
				}
				if !yield(invalid.Error{
					Field: fmt.Sprintf("description of class %q, attribute %q", d.Classes[z], d.Attributes[m].Name),
					Want:  "a probability from 0 to 1, or NaN where it is not described",
					Got:   fmt.Sprint(p),
				}) {
					return
				}
			}
		}
	}
}

func attributesGrouped(d *Dataset) iter.Seq[invalid.Error] {
	return func(yield func(invalid.Error) bool) {
		want := "-1, since no groups are known"
		if d.Groups != nil {
			want = fmt.Sprintf("a group from 0 to %d", len(d.Groups)-1)
		}
		for m, a := range d.Attributes {
			if d.Groups == nil && a.Group == -1 || a.Group >= 0 && a.Group < len(d.Groups) {
				continue
			}
			if !yield(invalid.Error{Field: fmt.Sprintf("group of attribute %d, %q", m, a.Name), Want: want, Got: fmt.Sprint(a.Group)}) {
				return
			}
		}
	}
}

func groupsNotEmpty(d *Dataset) iter.Seq[invalid.Error] {
	return func(yield func(invalid.Error) bool) {
		used := make([]bool, len(d.Groups))
		for _, a := range d.Attributes {
			if a.Group >= 0 && a.Group < len(used) {
				used[a.Group] = true
			}
		}
		for k, name := range d.Groups {
			if !used[k] && !yield(invalid.Error{Field: fmt.Sprintf("group %d, %q", k, name), Want: "at least one attribute", Got: "none"}) {
				return
			}
		}
	}
}

func (d *Dataset) hasClass(z int) bool { return z >= 0 && z < len(d.Classes) }
