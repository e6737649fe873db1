package comparison

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train/metrics"
)

// Result is table 1 of the paper on one data set: every method by one protocol.
type Result struct {
	Dataset string          `json:"dataset"`
	Parts   int             `json:"parts"`    // 1, or the parts of a rotation over classes
	Folds   int             `json:"folds"`    // over which settings were chosen
	HoldOut bool            `json:"hold_out"` // whether training left out the held-out samples of seen classes
	Methods []tuning.Method `json:"methods"`
	// Differences compare LAGO with every baseline, or with its other rows if there is none;
	// without LAGO they compare the first method with the others.
	Differences []Difference       `json:"differences"`
	Classes     []Class            `json:"classes"`
	Missing     []lab.Missing      `json:"missing"`
	LeftOut     []protocol.LeftOut `json:"left_out"` // variants that the data set does not allow
}

// Difference is the test accuracy of the reference method minus that of another one.
type Difference struct {
	Reference string `json:"reference"`
	Method    string `json:"method"`
	metrics.Difference
	Holm float64 `json:"p_holm"` // P, corrected for the number of differences
}

// Class is the test accuracy of each method on one class, in the order of Methods.
type Class struct {
	Class    string    `json:"class"`
	Part     int       `json:"part"` // in which it is unseen, from 1
	Samples  int       `json:"samples"`
	Accuracy []float64 `json:"accuracy"` // mean over seeds
}

// The kinds of stored comparisons: on the data set's own split, and by rotation.
const (
	Kind         = "compare"
	RotationKind = "rotation"
)

// Run trains and evaluates every method of c by one protocol, see tuning.Run, and stores
// the result, if it has a method, in the folder of the lab for Find.
func Run(ctx context.Context, l *lab.Lab, c tuning.Config) (*Result, error) {
	m, err := tuning.Run(ctx, l, c)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Dataset: l.Data.Name, Parts: len(l.Parts), Folds: max(c.Folds, 1), HoldOut: c.Common.HoldOut,
		Methods: m.Rows, Missing: m.Missing, LeftOut: m.LeftOut,
	}
	r.Classes = r.classes(l)
	r.Differences = r.differences()
	if len(r.Methods) == 0 {
		return r, nil // Missing says why
	}
	kind, config := Kind, any(c)
	if r.Parts > 1 {
		var parts []string
		for _, p := range l.Parts {
			parts = append(parts, p.Fingerprint)
		}
		kind, config = RotationKind, []any{c, parts}
	}
	return r, l.Store(kind, config, r)
}

// classes lists the test classes of all parts.
func (r *Result) classes(l *lab.Lab) []Class {
	list := []Class{}
	at := map[string]int{}
	for i, part := range l.Parts {
		samples := part.Data.SamplesPerClass()
		for _, z := range part.Data.Split.Test {
			if samples[z] > 0 {
				at[l.Data.Classes[z]] = len(list)
				list = append(list, Class{l.Data.Classes[z], i + 1, samples[z], make([]float64, len(r.Methods))})
			}
		}
	}
	for j, m := range r.Methods {
		for _, c := range m.Test.ByClass {
			list[at[c.Class]].Accuracy[j] = c.Accuracy
		}
	}
	return list
}

// accuracies are those of a method, by class.
func (r *Result) accuracies(method int) []float64 {
	values := make([]float64, len(r.Classes))
	for i, c := range r.Classes {
		values[i] = c.Accuracy[method]
	}
	return values
}

// differences compares the row of LAGO with the highest validation accuracy, or the first
// row if LAGO is in none, with all baselines, or with all others if there is none.
func (r *Result) differences() []Difference {
	reference := -1
	for i, m := range r.Methods {
		if m.Variant != "" && (reference < 0 || m.Val.PerClass.Mean > r.Methods[reference].Val.PerClass.Mean) {
			reference = i
		}
	}
	onlyBaselines := reference >= 0 && slices.ContainsFunc(r.Methods, func(m tuning.Method) bool { return m.Variant == "" })
	reference = max(reference, 0)
	list := []Difference{}
	var p []float64
	for i, m := range r.Methods {
		// The row of LAGO has the runs of one of its variants, unless the parts chose different ones.
		if slices.Equal(m.RunDirs, r.Methods[reference].RunDirs) || onlyBaselines && m.Variant != "" {
			continue
		}
		d := metrics.PairedDifference(r.accuracies(reference), r.accuracies(i))
		list = append(list, Difference{Reference: r.Methods[reference].Name, Method: m.Name, Difference: d})
		p = append(p, d.P)
	}
	for i, corrected := range metrics.Holm(p) {
		list[i].Holm = corrected
	}
	return list
}

// Method returns the method with a name on the command line, nil if it was not compared.
func (r *Result) Method(name string) *tuning.Method {
	i := slices.IndexFunc(r.Methods, func(m tuning.Method) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Methods[i]
}

// Find returns the comparison of a kind on a data set that was stored last in a folder, and
// its file. The error is fs.ErrNotExist if there is none.
func Find(root, kind, dataset, fingerprint string) (*Result, string, error) {
	r := new(Result)
	path, err := lab.FindStored(root, kind, dataset, fingerprint, r)
	if err != nil {
		return nil, path, err
	}
	if len(r.Methods) == 0 {
		return nil, path, &invalid.Error{Where: path, Field: "methods", Want: "at least one", Got: "none"}
	}
	for _, m := range r.Methods {
		if m.Val == nil || m.Test == nil || len(m.Parts) == 0 {
			return nil, path, &invalid.Error{Where: path, Field: m.Name, Want: "val, test and parts", Got: "none"}
		}
	}
	for _, d := range r.Differences {
		for _, name := range []string{d.Reference, d.Method} {
			if r.Method(name) == nil {
				return nil, path, &invalid.Error{Where: path, Field: "differences", Want: "one of the methods", Got: strconv.Quote(name)}
			}
		}
	}
	return r, path, nil
}

// WriteCSV writes one line per class: its name, part and number of samples, and the
// accuracy of each method as a fraction.
func (r *Result) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	header := []string{"class", "part", "samples"}
	for _, m := range r.Methods {
		header = append(header, m.Name)
	}
	rows := [][]string{header}
	for _, class := range r.Classes {
		row := []string{class.Class, strconv.Itoa(class.Part), strconv.Itoa(class.Samples)}
		for _, a := range class.Accuracy {
			row = append(row, fmt.Sprint(a))
		}
		rows = append(rows, row)
	}
	return c.WriteAll(rows)
}
