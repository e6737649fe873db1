package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Load reads a model file and checks it. Errors are *invalid.Error and name the file and
// the tensor or field.
func Load(path string) (*Saved, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := load(f)
	if err != nil {
		return nil, invalid.At(path, err)
	}
	return s, nil
}

func load(f *safetensors.File) (*Saved, error) {
	h, err := readHeader(f)
	if err != nil {
		return nil, err
	}
	for _, t := range f.Tensors {
		if !finite.All(t.F32) {
			return nil, &invalid.Error{Field: "tensor " + t.Name, Want: "finite values", Hint: "Train the model again."}
		}
	}
	r := tensorReader{file: f}
	s := &Saved{
		Baseline: h.Baseline, Dataset: h.Dataset, Dims: h.Dims, Attributes: h.Attributes, Groups: h.Groups, Semantic: h.Semantic,
		Classes: h.Classes, Split: h.Split, Learned: h.Learned, Provenance: h.Provenance, Adaptation: h.Adaptation,
		Descriptions: r.float64s(descriptionsTensor, len(h.Classes), len(h.Attributes)),
		Transform:    r.transform(transformPrefix, h.Preprocess, h.Dims),
	}
	if h.Adaptation != nil && h.Adaptation.Preprocess != "" {
		h.Adaptation.Transform = r.transform(adaptationPrefix, h.Adaptation.Preprocess, h.Dims)
	}
	if h.Config != nil {
		s.setLAGO(&r, *h.Config)
	}
	if r.err != nil {
		return nil, r.err
	}
	if h.Config == nil {
		err = s.setBaseline(f)
	} else {
		err = s.checkGroups()
	}
	if err != nil {
		return nil, err
	}
	return s, s.setImputer()
}

// setImputer gives the classifier the imputation from the train classes.
func (s *Saved) setImputer() error {
	imputer, err := impute.New(s.Descriptions.Gather(s.Learned), s.Semantic)
	if err != nil {
		return err
	}
	switch c := s.Classifier.(type) {
	case *model.LAGO:
		c.Impute = imputer
	case *model.Preprocessed:
		c.Impute = imputer
	}
	return nil
}

// readHeader reads and checks the metadata.
func readHeader(f *safetensors.File) (*header, error) {
	h := new(header)
	if err := json.Unmarshal([]byte(f.Metadata[headerKey]), h); err != nil {
		e := &invalid.Error{Field: "metadata", Want: "a model of lago-train"}
		if cause := (*invalid.Error)(nil); errors.As(err, &cause) {
			e.Err = cause
		}
		return nil, e
	}
	if h.Format != modelFormat {
		return nil, &invalid.Error{
			Field: "format", Want: fmt.Sprintf("%q", modelFormat), Got: fmt.Sprintf("%q", h.Format),
			Hint: "The model was saved by another version of the program: train it again.",
		}
	}
	if !f.Checksummed {
		return nil, &invalid.Error{Field: "checksum", Want: "one in the metadata", Got: "none", Hint: "The file is damaged."}
	}
	for _, part := range []struct {
		name string
		n    int
	}{{"attributes", len(h.Attributes)}, {"classes", len(h.Classes)}, {"dims", h.Dims}, {"learned", len(h.Learned)}} {
		if part.n < 1 {
			return nil, &invalid.Error{Field: part.name, Want: "at least 1", Got: fmt.Sprint(part.n)}
		}
	}
	for _, part := range append(h.Split.Subsets(), dataset.Subset{Name: "learned", Classes: h.Learned}) {
		for _, z := range part.Classes {
			if z < 0 || z >= len(h.Classes) {
				return nil, &invalid.Error{Field: "split: " + part.Name, Want: fmt.Sprintf("classes from 0 to %d", len(h.Classes)-1), Got: fmt.Sprint(z)}
			}
		}
	}
	if h.Adaptation != nil {
		if err := h.Adaptation.Check(); err != nil {
			return nil, invalid.At("adaptation", err)
		}
	}
	switch {
	case h.Config != nil && h.Baseline.Method != "":
		return nil, &invalid.Error{Field: "config", Want: "none for the baseline " + h.Baseline.Method}
	case h.Config != nil:
		return h, h.Config.Check()
	}
	return h, h.Baseline.Check()
}

func (s *Saved) setLAGO(r *tensorReader, c model.Config) {
	m := len(s.Attributes)
	s.Method = string(c.Variant)
	s.Classifier = &model.LAGO{
		Config: c, Semantic: s.Semantic, Transform: s.Transform,
		Params: &model.Parameters[float32]{W: r.matrix("W", s.Dims, m), B: r.matrix("b", m).Data, V: r.matrix("V", m, -1)},
	}
}

func (s *Saved) setBaseline(f *safetensors.File) error {
	var tensors baseline.Tensors
	for _, t := range f.Tensors {
		name, ok := strings.CutPrefix(t.Name, baselinePrefix)
		if !ok {
			continue
		}
		if len(t.Shape) != 2 || t.F32 == nil {
			return &invalid.Error{Field: "tensor " + t.Name, Want: "float32 in rows and columns", Got: fmt.Sprintf("shape %v", t.Shape)}
		}
		tensors = append(tensors, baseline.Tensor{Name: name, Matrix: dataset.Matrix[float32]{Rows: t.Shape[0], Cols: t.Shape[1], Data: t.F32}})
	}
	m, err := s.Baseline.Settings.Restore(tensors)
	if err != nil {
		return invalid.At(s.Baseline.Method, err)
	}
	s.Method, s.Classifier = s.Baseline.Method, &model.Preprocessed{Classifier: m, Transform: s.Transform}
	return nil
}

// checkGroups returns an error where V or the groups of the attributes do not fit the
// variant.
func (s *Saved) checkGroups() error {
	l, err := s.LAGO("groups")
	if err != nil {
		return err
	}
	m, k := len(s.Attributes), l.Config.K
	if len(s.Semantic) != m && (s.Semantic != nil || l.Config.Variant.Semantic()) {
		return &invalid.Error{Field: "semantic", Want: fmt.Sprintf("the group of each of the %d attributes", m), Got: fmt.Sprint(len(s.Semantic))}
	}
	for i, g := range s.Semantic {
		if g < 0 || g >= len(s.Groups) {
			return &invalid.Error{Field: "semantic", Want: fmt.Sprintf("attribute %d in one of the %d groups", i, len(s.Groups)), Got: fmt.Sprint(g)}
		}
	}
	switch {
	case l.Config.Variant == model.Singletons:
		k = m
	case l.Config.Variant.Semantic():
		k = slices.Max(s.Semantic) + 1
	}
	if l.Params.V.Cols != k {
		return &invalid.Error{Field: "tensor V", Want: fmt.Sprintf("the %d groups of %s", k, l.Config.Variant), Got: fmt.Sprint(l.Params.V.Cols)}
	}
	return nil
}

// tensorReader takes tensors of known shapes from a file and keeps the first error.
type tensorReader struct {
	file *safetensors.File
	err  error
}

// matrix returns a float32 tensor of the given shape, where -1 is any size. A
// vector is returned as one row.
func (r *tensorReader) matrix(name string, shape ...int) dataset.Matrix[float32] {
	t, ok := r.file.Tensor(name)
	fits := ok && t.F32 != nil && len(t.Shape) == len(shape)
	for i := 0; fits && i < len(shape); i++ {
		fits = t.Shape[i] > 0 && (shape[i] < 0 || shape[i] == t.Shape[i])
	}
	if !fits {
		r.fail(name, fmt.Sprintf("float32 of shape %v (-1 is any size)", shape), t)
		return dataset.Matrix[float32]{}
	}
	if len(shape) == 1 {
		return dataset.Matrix[float32]{Rows: 1, Cols: t.Shape[0], Data: t.F32}
	}
	return dataset.Matrix[float32]{Rows: t.Shape[0], Cols: t.Shape[1], Data: t.F32}
}

// float64s returns a float64 matrix of the given size.
func (r *tensorReader) float64s(name string, rows, cols int) dataset.Matrix[float64] {
	t, ok := r.file.Tensor(name)
	if !ok || t.F64 == nil || !slices.Equal(t.Shape, []int{rows, cols}) {
		r.fail(name, fmt.Sprintf("float64 of shape [%d %d]", rows, cols), t)
		return dataset.Matrix[float64]{}
	}
	return dataset.Matrix[float64]{Rows: rows, Cols: cols, Data: t.F64}
}

// transform reads the fitted steps of a chain.
func (r *tensorReader) transform(prefix string, chain preprocess.Chain, dims int) *preprocess.Transform {
	t := &preprocess.Transform{Chain: chain}
	if chain.Has(preprocess.Standardize) {
		t.Shift, t.Scale = r.matrix(prefix+"shift", dims).Data, r.matrix(prefix+"scale", dims).Data
	}
	if chain.Has(preprocess.Whiten) {
		t.Matrix = r.matrix(prefix+"matrix", dims, dims)
	}
	return t
}

func (r *tensorReader) fail(name, want string, t safetensors.Tensor) {
	if r.err == nil {
		r.err = &invalid.Error{Field: "tensor " + name, Want: want, Got: fmt.Sprintf("shape %v", t.Shape)}
	}
}
