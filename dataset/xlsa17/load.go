package xlsa17

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// maxDevSplit is the number of divisions of the seen classes in the release.
const maxDevSplit = 3

// Options say how a folder is read. The zero value is ready to use.
type Options struct {
	// DevSplit is the division of the seen classes into train and validation: 1, 2 or 3;
	// 0 means 1, to which the released locations belong.
	DevSplit int
	// CacheDir is the folder of cached features; "" means lago-train in the user's cache
	// folder.
	CacheDir string
	// NoCache neither reads nor writes cached features.
	NoCache bool
	// Log receives messages about the cache; nil means logrus's standard logger.
	Log logrus.FieldLogger
}

// Load reads the data set in dir. Its name is that of the folder in lower case.
// Descriptions are probabilities, NaN where the file has a negative value for "not
// described". Errors are *invalid.Error, or the context's.
func Load(ctx context.Context, dir string, opts Options) (*dataset.Dataset, error) {
	if opts.Log == nil {
		opts.Log = logrus.StandardLogger()
	}
	if opts.DevSplit < 0 || opts.DevSplit > maxDevSplit {
		return nil, wrong("--dev-split", "", "1, 2 or 3", fmt.Sprint(opts.DevSplit))
	}
	f, err := openFolder(ctx, dir, opts.Log)
	if err != nil {
		return nil, err
	}
	// Features last: they can take seconds, and mistakes elsewhere show at once.
	x, err := readFeatures(ctx, f.dir, opts)
	if err != nil {
		return nil, err
	}
	return f.dataset(x, max(opts.DevSplit, 1))
}

// Variables of att_splits.mat.
const (
	varClasses  = "allclasses_names"
	varOriginal = "original_att"

	trainLoc      = "train_loc"
	valLoc        = "val_loc"
	trainvalLoc   = "trainval_loc"
	testSeenLoc   = "test_seen_loc"
	testUnseenLoc = "test_unseen_loc"
)

var locationVariables = []string{trainLoc, valLoc, trainvalLoc, testSeenLoc, testUnseenLoc}

// folder is a data set without its features and labels.
type folder struct {
	ctx context.Context
	dir string // absolute
	mat string // path of att_splits.mat

	classes   []string
	index     *classIndex              // of the classes
	original  *dataset.Matrix[float64] // original_att as probabilities, classes x attributes; nil where it is absent
	locations map[string][]int         // samples from 0 by variable, of those that are present

	descriptions dataset.Matrix[float64]
	attributes   []dataset.Attribute
	groups       []string
}

func openFolder(ctx context.Context, dir string, log logrus.FieldLogger) (*folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, invalid.File(dir, err)
	}
	f := &folder{ctx: ctx, dir: dir, mat: filepath.Join(dir, "att_splits.mat"), locations: make(map[string][]int)}
	if err := f.readAttSplits(); err != nil {
		return nil, err
	}
	if err := f.readDescriptions(); err != nil {
		return nil, err
	}
	return f, f.readAttributes(log)
}

func (f *folder) readAttSplits() error {
	headers, err := matlab.List(f.ctx, f.mat)
	if err != nil {
		return err
	}
	want := []string{varClasses}
	for _, name := range append([]string{varOriginal}, locationVariables...) {
		if has(headers, name) {
			want = append(want, name)
		}
	}
	vars, err := matlab.Read(f.ctx, f.mat, want...)
	if err != nil {
		return err
	}
	for _, name := range want {
		switch a := vars[name]; name {
		case varClasses:
			err = f.setClasses(a)
		case varOriginal:
			err = f.setOriginal(a)
		default:
			f.locations[name], err = indices(f.mat, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func has(headers []matlab.Header, name string) bool {
	return slices.ContainsFunc(headers, func(h matlab.Header) bool { return h.Name == name })
}

func (f *folder) setClasses(a *matlab.Array) error {
	if len(a.Strings) == 0 {
		return wrong(f.mat, a.Name, "a cell array of names", a.Class.String())
	}
	for _, name := range a.Strings {
		f.classes = append(f.classes, strings.TrimSpace(name))
	}
	f.index = newClassIndex(f.classes)
	return nil
}

// setOriginal takes original_att, attributes x classes.
func (f *folder) setOriginal(a *matlab.Array) error {
	if n := len(f.classes); len(a.Dims) != 2 || a.Dims[1] != n || a.Dims[0] < 1 || len(a.Float32) != a.Dims[0]*n {
		return wrong(f.mat, a.Name, fmt.Sprintf("numbers for attributes x %d classes", n), a.Size())
	}
	m := dataset.Convert[float64](dataset.Matrix[float32]{Rows: a.Dims[1], Cols: a.Dims[0], Data: a.Float32})
	f.original = &m
	return toProbabilities(m, f.mat, a.Name+", class")
}

// indices returns a vector that counts from 1, as MATLAB does, counting from 0.
func indices(file string, a *matlab.Array) ([]int, error) {
	if len(a.Float32) == 0 {
		return nil, wrong(file, a.Name, "a vector of whole numbers", a.Size())
	}
	x := make([]int, len(a.Float32))
	for i, v := range a.Float32 {
		if v != float32(math.Trunc(float64(v))) || v < 1 || v > math.MaxInt32 {
			return nil, wrong(file, fmt.Sprintf("%s, entry %d", a.Name, i+1), "a whole number from 1", fmt.Sprint(v))
		}
		x[i] = int(v) - 1
	}
	return x, nil
}

// dataset joins the features and the rest of a folder.
func (f *folder) dataset(x *samples, devSplit int) (*dataset.Dataset, error) {
	if err := checkRange(x.file, varLabels, x.labels, len(f.classes), "the number of classes"); err != nil {
		return nil, err
	}
	for _, name := range locationVariables {
		if err := checkRange(f.mat, name, f.locations[name], len(x.labels), "the number of samples"); err != nil {
			return nil, err
		}
	}
	splits, err := f.splits(devSplit, x.labels)
	if err != nil {
		return nil, err
	}
	testSeen := slices.Sorted(slices.Values(f.locations[testSeenLoc]))
	return &dataset.Dataset{
		Name:         strings.ToLower(filepath.Base(f.dir)),
		Source:       f.dir,
		Features:     x.values,
		Labels:       x.labels,
		Classes:      f.classes,
		Attributes:   f.attributes,
		Groups:       f.groups,
		Descriptions: f.descriptions,
		Split:        splits[devSplit-1],
		DevSplits:    splits,
		TestSeen:     slices.Compact(testSeen),
		FeaturesSum:  x.sum,
	}, nil
}

// checkRange checks that indices, counted from 0, are below n.
func checkRange(file, variable string, indices []int, n int, what string) error {
	for entry, i := range indices {
		if i >= n {
			return wrong(file, fmt.Sprintf("%s, entry %d", variable, entry+1), fmt.Sprintf("a number from 1 to %d, %s", n, what), fmt.Sprint(i+1))
		}
	}
	return nil
}

// wrong returns an error about a file.
func wrong(file, field, want, got string) *invalid.Error {
	return &invalid.Error{Where: file, Field: field, Want: want, Got: got}
}

// firstFile returns the first of several files that exists, or "" for none.
func firstFile(dir string, names ...string) string {
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path // reading it reports any other error
		}
	}
	return ""
}

// maxText bounds the bytes of a text file, far above the descriptions of any data set.
const maxText = 64 << 20

// line is a line of text that is not blank, without the space around it.
type line struct {
	number int // from 1
	text   string
}

func texts(lines []line) []string {
	all := make([]string, len(lines))
	for i, l := range lines {
		all[i] = l.text
	}
	return all
}

func readLines(ctx context.Context, path string) ([]line, error) {
	text, err := fileio.ReadFile(ctx, path, maxText)
	return splitLines(string(text)), err
}

// splitLines returns the lines of a text that are not blank. Line ends may be those of
// Unix or Windows, and a byte order mark may come first.
func splitLines(text string) []line {
	var lines []line
	number := 0
	for part := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		number++
		if part = strings.TrimSpace(part); part != "" {
			lines = append(lines, line{number, part})
		}
	}
	return lines
}

// readNumbered reads names as numbered returns them.
func readNumbered(ctx context.Context, path string) ([]line, error) {
	lines, err := readLines(ctx, path)
	if err != nil {
		return nil, err
	}
	return numbered(path, lines)
}

// numbered returns names without the number that may precede each of them, as in
// "12 has_bill_shape::dagger". If some line has no number, numbers are part of the
// names. Numbers must ascend, because names belong to rows or columns by their lines.
func numbered(file string, lines []line) ([]line, error) {
	names := make([]line, len(lines))
	last := -1
	var disorder error
	for i, l := range lines {
		parts := numberedName.FindStringSubmatch(l.text)
		if parts == nil {
			return lines, nil
		}
		n, _ := strconv.Atoi(parts[1]) // of at most 18 digits
		if n <= last && disorder == nil {
			disorder = wrong(file, fmt.Sprintf("line %d", l.number), fmt.Sprintf("a number above %d, that of the line before", last), parts[1])
		}
		names[i], last = line{l.number, parts[2]}, n
	}
	return names, disorder
}

// numberedName is a number and a name.
var numberedName = regexp.MustCompile(`^(\d{1,18})[ \t]+(\S.*)$`)

// classIndex finds classes by names that other files spell differently.
type classIndex struct {
	names []string
	index dataset.NameIndex
}

func newClassIndex(names []string) *classIndex {
	x := &classIndex{names: names}
	for z, name := range names {
		x.index.Add(z, spellings(name)...)
	}
	return x
}

// spellings of the name of a class, the strictest first. Words may be separated by +, and a
// number may precede the name, as in CUB: "001.Black_footed_Albatross".
func spellings(name string) []string {
	fold := func(name string) string { return dataset.FoldName(strings.ReplaceAll(name, "+", " ")) }
	bare := strings.TrimLeft(name, "0123456789")
	if bare == name || !strings.HasPrefix(bare, ".") {
		bare = name
	}
	return []string{name, fold(name), fold(bare)}
}

// find returns the class of a name, or -1 and what is wrong with the name.
func (x *classIndex) find(name string) (z int, got string) {
	switch hits := x.index.Find(spellings(name)...); len(hits) {
	case 0:
		return -1, fmt.Sprintf("%q, which is none of them", name)
	case 1:
		return hits[0], ""
	default:
		return -1, fmt.Sprintf("%q, which may mean %q or %q", name, x.names[hits[0]], x.names[hits[1]])
	}
}
