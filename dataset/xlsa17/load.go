// Package xlsa17 reads data sets in the folder layout of the release that accompanied "Zero-Shot Learning - A
// Comprehensive Evaluation of the Good, the Bad and the Ugly" (Xian et al., 2017), with the attribute groups
// and class descriptions that the authors of LAGO added:
//
//	res101.mat             features (D x samples) and labels; or the one other .mat of the folder
//	att_splits.mat         names of the classes, original_att and locations of samples
//	trainclasses1.txt      and 2, 3: train classes
//	valclasses1.txt        and 2, 3: validation classes
//	testclasses.txt        test classes: the unseen classes
//	meta/
//	  attribute_names_with_semantic_group.txt    "has_bill_shape::dagger", one per line
//	  class_descriptions_by_attributes.txt       p(attribute | class), one class per line
//	  classes.txt                                the class of each line; by default the order of the .mat
//
// Copies of the release differ; each reader says what it accepts. The class lists decide the split, with
// every sample of a seen class in it, as in zero-shot papers. The locations must agree with them, and those
// of test_seen_loc are the held-out samples of generalised zero-shot learning. Classes are matched by name
// wherever two files name them. The variable att of the release, whose columns are L2-normalised, is not read
// as probabilities. The variable image_files beside the features names the samples.
//
// The package writes no data sets. It does not know MATLAB's format (package matlab) or
// what holds for all data sets (check.Errors).
package xlsa17

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/invalid"
)

const maxDevSplit = 3

// Load reads the data set in dir, with a division of the seen classes into train and validation: 1, 2 or 3; 0
// means 1, to which the released locations belong. Its name is that of the folder in lower case. Descriptions
// are probabilities, NaN where the file has a negative value for "not described". Errors are *invalid.Error,
// or the context's.
func Load(ctx context.Context, dir string, devSplit int) (*dataset.Dataset, error) {
	if devSplit < 0 || devSplit > maxDevSplit {
		return nil, wrong("", "dev_split", "1, 2 or 3", fmt.Sprint(devSplit))
	}
	f, err := openFolder(ctx, dir)
	if err != nil {
		return nil, err
	}
	// Features last: they can take seconds, and mistakes elsewhere show at once.
	if err := f.readFeatures(); err != nil {
		return nil, err
	}
	return &f.Dataset, f.readSplits(max(devSplit, 1))
}

const attSplitsFile = "att_splits.mat"

// Variables, from allclasses_names on those of att_splits.mat.
const (
	varFeatures = "features" // of the file of features, as are the next two
	varLabels   = "labels"
	varImages   = "image_files"

	varClasses  = "allclasses_names"
	varOriginal = "original_att"

	trainLoc      = "train_loc"
	valLoc        = "val_loc"
	trainvalLoc   = "trainval_loc"
	testSeenLoc   = "test_seen_loc"
	testUnseenLoc = "test_unseen_loc"
)

var locationVariables = []string{trainLoc, valLoc, trainvalLoc, testSeenLoc, testUnseenLoc}

type folder struct {
	dataset.Dataset // Source is the absolute path of the folder
	ctx             context.Context
	mat             string // path of att_splits.mat

	index map[string]int // of the classes
	// original_att as probabilities, classes x attributes; nil where it is absent
	original  *dataset.Matrix[float64]
	vars      map[string]*matlab.Array // the locations that are present
	locations map[string][]int         // their samples, from 0
}

func openFolder(ctx context.Context, dir string) (*folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, invalid.File(dir, err)
	}
	f := &folder{ctx: ctx, mat: filepath.Join(dir, attSplitsFile)}
	f.Name, f.Source = strings.ToLower(filepath.Base(dir)), dir
	for _, read := range []func() error{f.readAttSplits, f.readDescriptions, f.readAttributes} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *folder) readAttSplits() (err error) {
	f.vars, err = matlab.Open(f.ctx, f.mat, []string{varClasses},
		append(locationVariables, varOriginal)...)
	if err != nil {
		return err
	}
	names, n := f.vars[varClasses], f.vars[varClasses].Count()
	if names.Class == matlab.Char { // a row for each class, as SciPy writes a list of str
		n = names.Dims[0]
	}
	if names.Class != matlab.Cell && names.Class != matlab.Char || n == 0 {
		return wrong(f.mat, varClasses, "a cell array of names", names.Size())
	}
	if err := names.Load(f.ctx); err != nil {
		return err
	}
	f.index = make(map[string]int)
	for z, text := range names.Strings {
		name, want := dataset.CheckName(text)
		if _, repeated := f.index[name]; repeated {
			want = "a new name"
		}
		if want != "" {
			return wrong(f.mat, fmt.Sprintf("%s, class %d", varClasses, z+1), want, invalid.Quote(name))
		}
		f.Classes = append(f.Classes, name)
		f.index[name] = z
	}
	a := f.vars[varOriginal] // attributes x classes
	if a == nil {
		return nil
	}
	if len(a.Dims) != 2 || a.Dims[1] != n || a.Dims[0] < 1 || !a.Class.Numeric() {
		return wrong(f.mat, varOriginal, fmt.Sprintf("numbers for attributes x %d classes", n), a.Size())
	}
	if err := a.Load(f.ctx); err != nil {
		return err
	}
	m := dataset.Convert[float64](dataset.Matrix[float32]{Rows: n, Cols: a.Dims[0], Data: a.Float32})
	f.original = &m
	return toProbabilities(m, f.mat, varOriginal)
}

// readFeatures reads the labels and the features, D x N, which column by column are N rows of D.
func (f *folder) readFeatures() error {
	file, err := findFeatures(f.Source)
	if err != nil {
		return err
	}
	vars, err := matlab.Open(f.ctx, file, []string{varLabels, varFeatures}, varImages)
	if err != nil {
		return err
	}
	labels, a := vars[varLabels], vars[varFeatures]
	if n := labels.Count(); len(a.Dims) != 2 || a.Dims[1] != n || !a.Class.Numeric() {
		return wrong(file, varFeatures,
			fmt.Sprintf("numbers for D dimensions x %d samples, one for each label", n), a.Size())
	}
	if f.Labels, err = f.indices(file, labels, len(f.Classes), "the number of classes"); err != nil {
		return err
	}
	if images := vars[varImages]; images != nil && images.Class == matlab.Cell &&
		images.Count() == len(f.Labels) {
		if err := images.Load(f.ctx); err != nil {
			return err
		}
		f.IDs = idsOf(images.Strings)
	}
	err = a.Load(f.ctx)
	f.Features = dataset.Matrix[float32]{Rows: a.Dims[1], Cols: a.Dims[0], Data: a.Float32}
	f.FeaturesSum = dataset.SumFeatures(f.Features)
	return err
}

// idsOf returns the paths of images below the folder of all, nil if they are not different names.
func idsOf(paths []string) []string {
	ids, same := make([]string, len(paths)), 0
	for i, path := range paths {
		ids[i] = strings.ReplaceAll(dataset.Name(path), `\`, "/")
	}
	first, last := slices.Min(ids), slices.Max(ids) // what they share, all do
	for same < min(len(first), len(last)) && first[same] == last[same] {
		same++
	}
	folder := strings.LastIndexByte(first[:same], '/') + 1
	for i := range ids {
		ids[i] = ids[i][folder:]
	}
	distinct := slices.Clone(ids)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	if len(distinct) < len(ids) || distinct[0] == "" || slices.ContainsFunc(ids, invalid.HasControl) {
		return nil
	}
	return ids
}

func findFeatures(dir string) (string, error) {
	if file := firstFile(dir, "res101.mat"); file != "" {
		return file, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", invalid.File(dir, err)
	}
	var found []string
	for _, e := range entries {
		if strings.EqualFold(filepath.Ext(e.Name()), ".mat") && e.Name() != attSplitsFile {
			found = append(found, e.Name())
		}
	}
	if len(found) != 1 {
		return "", wrong(dir, "", "res101.mat, or one .mat with features beside "+attSplitsFile,
			cmp.Or(strings.Join(found, " and "), "none"))
	}
	return filepath.Join(dir, found[0]), nil
}

func (f *folder) readLocations(n int) (err error) {
	f.locations = make(map[string][]int)
	for _, name := range locationVariables {
		if a := f.vars[name]; a != nil && a.Count() > 0 { // without entries, it names no samples
			if a.Count() > n {
				return wrong(f.mat, name, fmt.Sprintf("locations of at most the %d samples", n), a.Size())
			}
			if f.locations[name], err = f.indices(f.mat, a, n, "the number of samples"); err != nil {
				return err
			}
		}
	}
	f.TestSeen = slices.Compact(slices.Sorted(slices.Values(f.locations[testSeenLoc])))
	return nil
}

// indices loads a vector that counts from 1 to n, as MATLAB does, and returns it counting from 0.
func (f *folder) indices(file string, a *matlab.Array, n int, what string) ([]int, error) {
	if !a.Class.Numeric() || a.Count() == 0 {
		return nil, wrong(file, a.Name, "a vector of whole numbers", a.Size())
	}
	if err := a.Load(f.ctx); err != nil {
		return nil, err
	}
	x := make([]int, len(a.Float32))
	for i, v := range a.Float32 {
		if whole := float64(v); whole != math.Trunc(whole) || whole < 1 || whole > float64(n) {
			return nil, wrong(file, fmt.Sprintf("%s, entry %d", a.Name, i+1),
				fmt.Sprintf("a whole number from 1 to %d, %s", n, what), fmt.Sprint(v))
		}
		x[i] = int(v) - 1
	}
	return x, nil
}

func wrong(file, field, want, got string) *invalid.Error {
	return &invalid.Error{Where: file, Field: field, Want: want, Got: got}
}

func firstFile(dir string, names ...string) string {
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path // reading it reports any other error
		}
	}
	return ""
}

// readSplits reads the divisions of the seen classes, at least dev of them, of which the last
// is the split: the second and third exist where there is a list of their train classes.
func (f *folder) readSplits(dev int) error {
	if err := f.readLocations(len(f.Labels)); err != nil {
		return err
	}
	for n := 1; n <= maxDevSplit &&
		(n <= dev || firstFile(f.Source, fmt.Sprintf("trainclasses%d.txt", n)) != ""); n++ {
		s, err := f.readSplit(n)
		if err != nil {
			return err
		}
		f.DevSplits = append(f.DevSplits, s)
	}
	f.Split = f.DevSplits[dev-1]
	return nil
}

// readSplit reads a division of the classes from their lists. No location may contradict it, but a variable
// need not have all samples: releases differ in whether those of test_seen_loc are in the others.
func (f *folder) readSplit(n int) (s dataset.Split, err error) {
	listOf := make(map[int]string)
	read := func(list string) (classes []int) {
		if err == nil {
			classes, err = f.readClassList(list)
		}
		for _, z := range classes {
			if other, taken := listOf[z]; taken && err == nil {
				err = wrong(f.Source, fmt.Sprintf("class %q", f.Classes[z]), "one of train, val and test",
					fmt.Sprintf("it in %s and in %s", other, list))
			}
			listOf[z] = list
		}
		return classes
	}
	s.Train, s.Val = read(fmt.Sprintf("trainclasses%d.txt", n)), read(fmt.Sprintf("valclasses%d.txt", n))
	if s.Test = read("testclasses.txt"); err != nil {
		return s, err
	}
	for _, c := range []struct {
		variable, classes string
		all               []int
	}{
		{trainLoc, "train", s.Train},
		{valLoc, "val", s.Val},
		{testUnseenLoc, "test", s.Test},
		{trainvalLoc, "train and val", s.Seen()},
		{testSeenLoc, "train and val", s.Seen()},
	} {
		if n > 1 && (c.variable == trainLoc || c.variable == valLoc) { // they belong to the first division
			continue
		}
		for _, sample := range f.locations[c.variable] {
			if z := f.Labels[sample]; !slices.Contains(c.all, z) {
				return s, wrong(f.mat, c.variable, "only samples of the "+c.classes+" classes",
					fmt.Sprintf("location %d, a sample of class %q", sample+1, f.Classes[z]))
			}
		}
	}
	return s, nil
}

// readClassList reads names of classes, one per line, and returns the classes in ascending order.
func (f *folder) readClassList(name string) ([]int, error) {
	path := filepath.Join(f.Source, name)
	lines, err := readLines(f.ctx, path)
	if e := (*invalid.Error)(nil); errors.Is(err, fs.ErrNotExist) && errors.As(err, &e) {
		e.Hint = "It has the names of classes, one per line, as allclasses_names has them; lago-train docs " +
			"xlsa17 writes it from the locations."
	}
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, wrong(path, "", "names of classes, one per line", "none")
	}
	var classes []int
	for _, l := range lines {
		z, known := f.index[l.text]
		if !known {
			e := wrong(path, fmt.Sprintf("line %d", l.number),
				fmt.Sprintf("one of the %d classes of %s", len(f.Classes), f.mat), invalid.Quote(l.text))
			e.Hint = invalid.DidYouMean(l.text, f.Classes)
			return nil, e
		}
		classes = append(classes, z)
	}
	slices.Sort(classes)
	return slices.Compact(classes), nil
}
