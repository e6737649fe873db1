// Package dataset defines a zero-shot data set: the features and class of each sample, a
// description of each class by attributes, and a split of the classes into those that are
// trained on and those that are only described.
//
// The packages below it make one: xlsa17 and openlayout read folders, glyphs generates
// one, and catalog finds any of them by name. Package check says what is wrong with one.
//
// It does not know models. What p(z|x) makes of a description is in package model; package impute completes
// descriptions.
package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
)

// Matrix is a dense matrix in row-major order.
type Matrix[T matrix.Float] = matrix.Matrix[T]

// NewMatrix returns a matrix of zeros.
func NewMatrix[T matrix.Float](rows, cols int) Matrix[T] { return matrix.New[T](rows, cols) }

// Convert returns a copy of a matrix in another precision.
func Convert[To, From matrix.Float](m Matrix[From]) Matrix[To] { return matrix.Convert[To](m) }

// Dataset is one zero-shot data set.
type Dataset struct {
	Name   string // as in "cub"
	Source string // a folder, or how the data were generated

	Features Matrix[float32] // samples x D
	Labels   []int           // one per sample; index into Classes

	Classes    []string
	Attributes []Attribute
	Groups     []string // nil if the attributes have no known groups
	// classes x attributes, U[z,m] = p(a_m = T | z) in [0, 1]; NaN means not described
	Descriptions Matrix[float64]
	// it was said that entries are NaN because nobody knows them, not because classes lack the attribute
	EmptyUnknown bool
	Drafts       map[Draft]bool // descriptions that no person has checked; not in the Fingerprint

	Split Split

	// DevSplits are the divisions of the seen classes into train and val classes that the
	// source has, Split among them; nil if Split is the only one.
	DevSplits []Split

	// TestSeen are the samples of seen classes, ascending, that are held out for generalised zero-shot
	// learning: models evaluated on them must not be trained on them. It is nil if the source has none.
	TestSeen []int

	// IDs are different names of the samples, such as the paths of their photographs; nil if
	// the source has none.
	IDs []string
	// Sources are the recordings, specimens or subjects that the samples are of, empty for a sample of
	// its own, see Divide; nil if they are not known.
	Sources []string
	// Provenance says how the features were computed from images, nil if it is not known, and
	// ImageDir where these are: the IDs are paths in it.
	Provenance *Provenance
	ImageDir   string

	Columns []string // names of the features; nil if the source has none
	Absent  *Absent  // what was missing among the features; nil for nothing

	// FeaturesSum is the SumFeatures of the features if the reader knows it, else empty.
	FeaturesSum string
}

// Attribute is one column of the class descriptions.
type Attribute struct {
	Name  string // as in "has_wing_color::olive"
	Group int    // index into Dataset.Groups, -1 if groups are unknown
}

// Draft is a group of attributes of a class that no person has checked, "" without groups.
type Draft struct {
	Class string `json:"class"`
	Group string `json:"group"`
}

// Split divides the classes: each list has indices into Dataset.Classes, ascending. Test
// classes are never trained on.
type Split struct {
	Train, Val, Test []int
}

// Subset is one of the three sets of classes of a split.
type Subset struct {
	Name    string // "train", "val" or "test"
	Classes []int
}

// Subsets returns train, val and test in this order.
func (s Split) Subsets() []Subset {
	return []Subset{{"train", s.Train}, {"val", s.Val}, {"test", s.Test}}
}

// Seen returns the train and val classes, ascending: those trained on before the test classes are evaluated.
func (s Split) Seen() []int {
	seen := slices.Concat(s.Train, s.Val)
	slices.Sort(seen)
	return seen
}

// Splits returns DevSplits, or Split if it is the only one.
func (d *Dataset) Splits() []Split {
	if len(d.DevSplits) == 0 {
		return []Split{d.Split}
	}
	return d.DevSplits
}

// GroupOf returns the group of each attribute, or nil if groups are unknown.
func (d *Dataset) GroupOf() []int {
	if d.Groups == nil {
		return nil
	}
	g := make([]int, len(d.Attributes))
	for m, a := range d.Attributes {
		g[m] = a.Group
	}
	return g
}

// SamplesPerClass counts the samples of each class. Labels that are no class are not counted.
func (d *Dataset) SamplesPerClass() []int {
	n := make([]int, len(d.Classes))
	for _, z := range d.Labels {
		if z >= 0 && z < len(n) {
			n[z]++
		}
	}
	return n
}

// Name returns a name as names are compared: with composed letters (NFC), ordinary spaces, and no
// space around it.
func Name(text string) string {
	// what follows bytes that are not UTF-8 changes their form
	text = norm.NFC.String(strings.TrimSpace(text))
	for _, unbroken := range []string{"\u00a0", "\u202f"} { // a Replacer would copy each name
		text = strings.ReplaceAll(text, unbroken, " ")
	}
	return text
}

// FormOfTables is that of all CSV files of data sets.
const FormOfTables = "CSV in UTF-8 with commas between cells, or, with decimal commas, semicolons or tabs"

// CheckName returns a name as Name does, and what is expected of it: "" if files of text and terminals keep
// it as it is.
func CheckName(text string) (name, want string) {
	const most = 1000
	name = Name(text)
	switch {
	case name == "":
		want = "a name"
	case invalid.HasControl(name):
		want = "a name without control characters"
	case OtherDigits(name): // which a table refuses
		want = "a name with a letter, or with digits from 0 to 9"
	case len(name) > most:
		want = fmt.Sprintf("a name of at most %d bytes", most)
	}
	return name, want
}

// OtherDigits reports whether a text without letters has digits of another script.
func OtherDigits(text string) (other bool) {
	for _, c := range text {
		if unicode.IsLetter(c) {
			return false
		}
		other = other || c > unicode.MaxASCII && unicode.IsDigit(c)
	}
	return other
}

// SamplesOf returns the indices of the samples of the given classes, ascending.
func (d *Dataset) SamplesOf(classes []int) []int {
	in := make([]bool, len(d.Classes))
	for _, z := range classes {
		in[z] = true
	}
	var rows []int
	for i, z := range d.Labels {
		if in[z] {
			rows = append(rows, i)
		}
	}
	return rows
}

// Describe returns the descriptions of the given classes in their order, classes x attributes.
func (d *Dataset) Describe(classes []int) Matrix[float64] {
	return d.Descriptions.Gather(classes)
}

// Described returns the number of attributes that a description gives a value for.
func Described(u []float64) int {
	n := 0
	for _, p := range u {
		if !math.IsNaN(p) {
			n++
		}
	}
	return n
}

// SourceOf returns the source of a sample, "" if it has none.
func (d *Dataset) SourceOf(row int) string {
	if d.Sources == nil {
		return ""
	}
	return d.Sources[row]
}

// Divide divides rows, in their order, by the number of each among those of its class, from 1. Rows of one
// source are on one side, that of the first of them, and count once.
func (d *Dataset) Divide(rows []int, first func(row, n int) bool) (in, out []int) {
	counts, sides := make([]int, len(d.Classes)), map[string]bool{}
	for _, row := range rows {
		source := d.SourceOf(row)
		side, known := sides[source]
		if !known {
			z := d.Labels[row]
			counts[z]++
			side = first(row, counts[z])
			if source != "" {
				sides[source] = side
			}
		}
		if side {
			in = append(in, row)
		} else {
			out = append(out, row)
		}
	}
	return in, out
}

// HeldOut divides the held-out samples of seen classes: of each class every second one, from the first,
// is evaluated, and the others choose what concerns seen and unseen classes together.
func (d *Dataset) HeldOut() (choosing, evaluated []int) {
	evaluated, choosing = d.Divide(d.TestSeen, func(_, n int) bool { return n%2 == 1 })
	return choosing, evaluated
}

// Means returns the mean of each column of u over the entries that are not NaN, or none if all of them are.
func Means(u Matrix[float64], none float64) []float64 {
	means := make([]float64, u.Cols)
	for m := range means {
		var sum, n float64
		for z := range u.Rows {
			if v := u.Row(z)[m]; !math.IsNaN(v) {
				sum += v
				n++
			}
		}
		means[m] = none
		if n > 0 {
			means[m] = sum / n
		}
	}
	return means
}

// Fingerprint returns a SHA-256 in hex of everything that training and evaluation can
// depend on: features, labels, names, groups, descriptions, split, held-out samples and sources,
// but not Name and Source. It is the same on every machine.
func (d *Dataset) Fingerprint() string {
	sum := d.FeaturesSum
	if sum == "" {
		sum = SumFeatures(d.Features)
	}
	w := fingerprinter{sha256.New()}
	w.put(sum, d.Labels, d.Classes, len(d.Attributes))
	for _, a := range d.Attributes {
		w.put(a.Name, a.Group)
	}
	w.put(d.Groups, d.Descriptions, d.Split.Train, d.Split.Val, d.Split.Test, d.TestSeen)
	if d.Sources != nil {
		w.put(d.Sources)
	}
	return hex.EncodeToString(w.Sum(nil))
}

// SumFeatures returns a SHA-256 in hex of the size of the features and their
// little-endian values. Fingerprint computes it unless FeaturesSum is set.
func SumFeatures(x Matrix[float32]) string {
	w := fingerprinter{sha256.New()}
	w.put(x.Rows, x.Cols)
	_ = matrix.Write(w, x.Data) // a hash takes everything
	return hex.EncodeToString(w.Sum(nil))
}

// fingerprinter hashes values so that no two sequences of them hash the same bytes:
// everything of variable length follows its length.
type fingerprinter struct{ hash.Hash }

func (w fingerprinter) put(values ...any) {
	for _, v := range values {
		switch v := v.(type) {
		case int:
			w.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
		case string:
			w.put(len(v))
			w.Write([]byte(v))
		case []int:
			putAll(w, v)
		case []string:
			putAll(w, v)
		case Matrix[float64]:
			w.put(v.Rows, v.Cols)
			for _, x := range v.Data {
				if math.IsNaN(x) {
					x = math.NaN() // all NaNs mean not described, whatever their bits
				}
				w.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
			}
		default:
			panic(fmt.Sprintf("dataset: no fingerprint of a %T", v))
		}
	}
}

func putAll[T any](w fingerprinter, list []T) {
	w.put(len(list))
	for _, v := range list {
		w.put(v)
	}
}
