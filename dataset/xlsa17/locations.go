package xlsa17

import (
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/internal/invalid"
)

// locationsInRange checks that every location is that of a sample.
func (f *folder) locationsInRange(labels []int) error {
	for _, name := range []string{trainLoc, valLoc, trainvalLoc, testSeenLoc, testUnseenLoc} {
		for entry, i := range f.mat.locations[name] {
			if i >= len(labels) {
				return &invalid.Error{
					Where: f.mat.file,
					Field: fmt.Sprintf("%s, entry %d", name, entry+1),
					Want:  fmt.Sprintf("a location from 1 to %d, the number of samples", len(labels)),
					Got:   fmt.Sprint(i + 1),
				}
			}
		}
	}
	return nil
}

// checkLocations checks each variable that is there against the classes of its
// part. train_loc and val_loc have every image of their classes in the first
// release, and none of the images of test_seen_loc in the second.
func (f *folder) checkLocations(labels []int, train, val, seen, test part) error {
	heldOut := make([]bool, len(labels))
	for _, i := range f.mat.locations[testSeenLoc] {
		heldOut[i] = true
	}
	noneHeldOut := make([]bool, len(labels))

	for _, c := range []struct {
		variable string
		part     part
		complete bool   // all images of the part must be there,
		heldOut  []bool // or all but these
	}{
		{f.devLocation(trainLoc), train, true, heldOut},
		{f.devLocation(valLoc), val, true, heldOut},
		{trainvalLoc, seen, false, nil},
		{testSeenLoc, seen, false, nil},
		{testUnseenLoc, test, true, noneHeldOut},
	} {
		loc, ok := f.mat.locations[c.variable]
		if !ok {
			continue
		}
		if err := f.onlyImagesOf(c.part, c.variable, loc, labels); err != nil {
			return err
		}
		if !c.complete {
			continue
		}
		if err := f.allImagesOf(c.part, c.variable, loc, labels, c.heldOut); err != nil {
			return err
		}
	}
	return nil
}

// testSeen returns the samples of test_seen_loc, ascending; nil without it.
func (f *folder) testSeen() []int {
	held := slices.Clone(f.mat.locations[testSeenLoc])
	slices.Sort(held)
	return slices.Compact(held)
}

func (f *folder) onlyImagesOf(p part, variable string, loc, labels []int) error {
	for _, i := range loc {
		if !p.has(labels[i]) {
			return f.disagreement(p, variable, "only images", i, labels[i])
		}
	}
	return nil
}

// allImagesOf checks that loc has all images of the classes of p, or all that
// are not held out; some of those held out are neither release.
func (f *folder) allImagesOf(p part, variable string, loc, labels []int, heldOut []bool) error {
	in := make([]bool, len(labels))
	someHeldOut := false
	for _, i := range loc {
		in[i] = true
		someHeldOut = someHeldOut || heldOut[i]
	}
	for i, z := range labels {
		if in[i] || !p.has(z) || heldOut[i] && !someHeldOut {
			continue
		}
		what := "all images"
		if heldOut[i] {
			what = fmt.Sprintf("all images, or all but those of %s,", testSeenLoc)
		}
		e := f.disagreement(p, variable, what, i, z)
		e.Got = "no " + e.Got
		return e
	}
	return nil
}

func (f *folder) disagreement(p part, variable, what string, i, z int) *invalid.Error {
	return &invalid.Error{
		Where: f.mat.file,
		Field: variable,
		Want:  fmt.Sprintf("%s of the %s classes (%s)", what, p.name, p.source),
		Got:   fmt.Sprintf("location %d, an image of class %q", i+1, f.mat.classes[z]),
	}
}
