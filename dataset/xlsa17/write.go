package xlsa17

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
)

const attributeFile = "attribute_names_with_semantic_group.txt"

// Write writes d, which dataset.Check must have accepted, as a folder that Load
// reads as the same data set, to the bit. others are the second and third division
// of the seen classes into train and val, d.Split is the first. Files of the same
// names are replaced.
//
// The text files of meta/ have the descriptions with all their digits, as fractions;
// original_att has them as this package reads it, in the precision of float32, and
// att, which it does not read, with columns of length 1 for other programs. There is
// no image_files: a data set knows no names of samples.
//
// A data set that the layout can't express is an error of type *invalid.Error,
// before anything is written: see NameGroups for one whose attributes don't tell
// their groups.
func Write(dir string, d *dataset.Dataset, others ...dataset.Split) error {
	if err := writable(d); err != nil {
		return err
	}
	texts, err := classLists(d, others)
	if err != nil {
		return err
	}
	texts["meta/"+classFile] = numbered(d.Classes)
	texts["meta/"+attributeFile] = numbered(attributeNames(d))
	texts["meta/"+descriptionFile] = descriptionText(d)
	if err := os.MkdirAll(filepath.Join(dir, "meta"), 0o777); err != nil {
		return err
	}
	for name, text := range texts {
		err := atomicfile.Write(filepath.Join(dir, filepath.FromSlash(name)), func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := matlab.Write(filepath.Join(dir, "att_splits.mat"), attSplitsVariables(d)...); err != nil {
		return err
	}
	return matlab.Write(filepath.Join(dir, "res101.mat"),
		&matlab.Array{Name: varFeatures, Class: matlab.Single, Dims: []int{d.Features.Cols, d.Features.Rows}, Float32: d.Features.Data},
		vector(varLabels, d.Labels))
}

// classLists returns the files that list classes, by name.
func classLists(d *dataset.Dataset, others []dataset.Split) (map[string]string, error) {
	if len(others) > 2 {
		return nil, fmt.Errorf("xlsa17: %d divisions, of at most 3", 1+len(others))
	}
	list := func(classes []int) string {
		var b strings.Builder
		for _, z := range classes {
			fmt.Fprintln(&b, d.Classes[z])
		}
		return b.String()
	}
	texts := map[string]string{
		"allclasses.txt":      strings.Join(d.Classes, "\n") + "\n",
		"trainvalclasses.txt": list(d.Split.Seen()),
		"testclasses.txt":     list(d.Split.Test),
	}
	for n, s := range append([]dataset.Split{d.Split}, others...) {
		if !slices.Equal(s.Seen(), d.Split.Seen()) || !slices.Equal(s.Test, d.Split.Test) {
			return nil, &invalid.Error{Where: d.Name, Field: fmt.Sprintf("division %d", n+1), Want: "the seen and unseen classes of the first", Got: "others"}
		}
		texts[fmt.Sprintf("trainclasses%d.txt", n+1)] = list(s.Train)
		texts[fmt.Sprintf("valclasses%d.txt", n+1)] = list(s.Val)
	}
	return texts, nil
}

// numbered returns names, one a line behind its number.
func numbered(names []string) string {
	var b strings.Builder
	for i, name := range names {
		fmt.Fprintf(&b, "%d %s\n", i+1, name)
	}
	return b.String()
}

func attributeNames(d *dataset.Dataset) []string {
	names := make([]string, len(d.Attributes))
	for m, a := range d.Attributes {
		names[m] = a.Name
	}
	return names
}

func descriptionText(d *dataset.Dataset) string {
	var b strings.Builder
	for z := range d.Classes {
		for m, p := range d.Descriptions.Row(z) {
			if m > 0 {
				b.WriteByte(' ')
			}
			if math.IsNaN(p) {
				p = -1 // not described
			}
			b.WriteString(strconv.FormatFloat(p, 'g', -1, 64))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// attSplitsVariables are those of att_splits.mat. Locations of no sample are left
// out.
func attSplitsVariables(d *dataset.Dataset) []*matlab.Array {
	original := &matlab.Array{Name: varOriginal, Class: matlab.Double, Dims: []int{len(d.Attributes), len(d.Classes)}}
	att := &matlab.Array{Name: varNormalised, Class: matlab.Double, Dims: original.Dims}
	for z := range d.Classes {
		u := d.Descriptions.Row(z)
		norm := 0.0
		for _, p := range u {
			if !math.IsNaN(p) {
				norm = math.Hypot(norm, p)
			}
		}
		for _, p := range u {
			unit := 0.0
			if p > 0 {
				unit = p / norm
			}
			if math.IsNaN(p) {
				p = -1
			}
			original.Float32 = append(original.Float32, float32(p))
			att.Float32 = append(att.Float32, float32(unit))
		}
	}
	vars := []*matlab.Array{{Name: varClasses, Class: matlab.Cell, Dims: []int{len(d.Classes), 1}, Strings: d.Classes}, original, att}
	for _, loc := range locationsOf(d) {
		if len(loc.samples) > 0 {
			vars = append(vars, vector(loc.name, loc.samples))
		}
	}
	return vars
}

type location struct {
	name    string
	samples []int
}

// locationsOf says where the samples are: as in the second release, those that are
// held out for generalised zero-shot learning are in test_seen_loc alone.
func locationsOf(d *dataset.Dataset) []location {
	learned := func(classes []int) []int {
		return slices.DeleteFunc(d.SamplesOf(classes), func(i int) bool {
			_, held := slices.BinarySearch(d.TestSeen, i)
			return held
		})
	}
	return []location{
		{trainLoc, learned(d.Split.Train)},
		{valLoc, learned(d.Split.Val)},
		{trainvalLoc, learned(d.Split.Seen())},
		{testSeenLoc, d.TestSeen},
		{testUnseenLoc, d.SamplesOf(d.Split.Test)},
	}
}

// vector is a column of whole numbers, which count from 1 in the file.
func vector(name string, numbers []int) *matlab.Array {
	a := &matlab.Array{Name: name, Class: matlab.Double, Dims: []int{len(numbers), 1}}
	for _, n := range numbers {
		a.Float32 = append(a.Float32, float32(n+1))
	}
	return a
}
