package train

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/numeric"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/lago"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Saved is a trained model and what it needs of its data set to predict classes without
// it.
type Saved struct {
	Method methods.Spec
	*model.Pipeline

	Dataset      string                  // that it was trained on
	Dims         int                     // D, of the features
	Attributes   []string                // names, in the order of descriptions
	Groups       []string                // names, nil where the data set has none
	Semantic     []int                   // the group of each attribute, nil where the data set has none
	Classes      []string                // of the data set, seen or unseen
	Descriptions dataset.Matrix[float64] // of the classes, NaN for missing entries
	Split        dataset.Split           // of the classes
	Learned      []int                   // the classes trained on, from which missing entries are imputed
	Provenance   *dataset.Provenance     // of the features; nil if it is not known
	Adaptation   *Adaptation             // nil if it was not chosen
}

// Adaptation is how predictions are adapted to a batch of unlabelled samples, as chosen on
// validation classes. Accuracies are those on these, as fractions.
type Adaptation struct {
	adapt.Settings // with Tau 0 adaptation is off
	// Preprocess is the chain of the features that are adapted to, which Transform applies;
	// "" for that of the model.
	Preprocess preprocess.Chain      `json:"preprocess,omitempty"`
	Transform  *preprocess.Transform `json:"-"`
	Before     float64               `json:"before"`
	After      float64               `json:"after"`
	Interval   metrics.Interval      `json:"interval"`       // of the change, over classes
	Smallest   int                   `json:"smallest_batch"` // samples from which it gained
	Samples    int                   `json:"samples"`
	Classes    int                   `json:"classes"`
}

// AdaptedFeatures returns the preprocessing of the features that predictions are adapted to.
func (s *Saved) AdaptedFeatures() *preprocess.Transform {
	if s.Adaptation != nil && s.Adaptation.Transform != nil {
		return s.Adaptation.Transform
	}
	return s.Transform
}

// LAGO returns the classifier if it is LAGO. Otherwise the error is an *invalid.Error.
func (s *Saved) LAGO() (*model.LAGO, error) {
	if l, ok := s.Classifier.(lago.Model); ok {
		return l.LAGO, nil
	}
	return nil, &invalid.Error{Field: "model", Want: "a LAGO model", Got: s.Method.Label()}
}

// TrainedOn reports whether the class of a name is one that the model was trained on.
func (s *Saved) TrainedOn(class string) bool {
	return slices.ContainsFunc(s.Learned, func(z int) bool { return s.Classes[z] == class })
}

// Fits returns an *invalid.Error where the model does not take the features or the
// descriptions of the data set.
func (s *Saved) Fits(d *dataset.Dataset) error {
	bad := func(field, want, got string) error {
		return &invalid.Error{
			Where: "data set " + d.Name, Field: field, Want: want, Got: got,
			Hint: fmt.Sprintf("The %s model was trained on %s.", s.Method.Label(), s.Dataset),
		}
	}
	if s.Dims != d.Features.Cols {
		return bad("dimensions of the features", fmt.Sprint(s.Dims), fmt.Sprint(d.Features.Cols))
	}
	if len(s.Attributes) != len(d.Attributes) {
		return bad("attributes", fmt.Sprint(len(s.Attributes)), fmt.Sprint(len(d.Attributes)))
	}
	for m, a := range d.Attributes {
		if a.Name != s.Attributes[m] {
			return bad(fmt.Sprintf("attribute %d", m), fmt.Sprintf("%q", s.Attributes[m]), fmt.Sprintf("%q", a.Name))
		}
	}
	return nil
}

// SetImputation sets how the model imputes missing entries. Models are loaded with
// impute.Neutral.
func (s *Saved) SetImputation(kind impute.Kind) { s.Pipeline = s.Pipeline.WithImputation(kind) }

// newSaved returns a model of preprocessed features with what it needs of the data that it
// was trained on.
func newSaved(m methods.Spec, p *model.Pipeline, data *Data) *Saved {
	d := data.Dataset
	p.Transform = data.Transform
	s := &Saved{
		Method: m, Pipeline: p, Dataset: d.Name, Dims: d.Features.Cols, Groups: d.Groups, Semantic: d.GroupOf(),
		Classes: d.Classes, Descriptions: d.Descriptions, Split: d.Split, Learned: data.TrainClasses, Provenance: d.Provenance,
	}
	for _, a := range d.Attributes {
		s.Attributes = append(s.Attributes, a.Name)
	}
	return s
}

// header is the metadata of a model file. Its tensors are the descriptions, those of the
// preprocessing and those of the method.
type header struct {
	Format     string              `json:"format"`
	Dataset    string              `json:"dataset"`
	Method     methods.Spec        `json:"method"`
	Attributes []string            `json:"attributes"`
	Groups     []string            `json:"groups,omitempty"`
	Semantic   []int               `json:"semantic,omitempty"`
	Classes    []string            `json:"classes"`
	Split      dataset.Split       `json:"split"`
	Learned    []int               `json:"learned"`
	Preprocess preprocess.Chain    `json:"preprocess"`
	Dims       int                 `json:"dims"`
	Provenance *dataset.Provenance `json:"provenance,omitempty"`
	Adaptation *Adaptation         `json:"adaptation,omitempty"`
}

const (
	modelFormat        = "lago-train model 4"
	headerKey          = "lago" // in the metadata
	descriptionsTensor = "descriptions"
	methodPrefix       = "method."
	transformPrefix    = "preprocess."
	adaptationPrefix   = "adaptation."
)

// Save writes a model as a safetensors file, with a header in the metadata.
func Save(path string, s *Saved) error {
	h := header{
		Format: modelFormat, Dataset: s.Dataset, Method: s.Method, Attributes: s.Attributes, Groups: s.Groups,
		Semantic: s.Semantic, Classes: s.Classes, Split: s.Split, Learned: s.Learned, Preprocess: s.Transform.Chain, Dims: s.Dims,
		Provenance: s.Provenance, Adaptation: s.Adaptation,
	}
	tensors := []safetensors.Tensor{{
		Name: descriptionsTensor, Shape: []int{s.Descriptions.Rows, s.Descriptions.Cols}, F64: s.Descriptions.Data,
	}}
	tensors = append(tensors, named(methodPrefix, s.Classifier.(method.Model).Tensors())...)
	tensors = append(tensors, transformTensors(transformPrefix, s.Transform)...)
	if s.Adaptation != nil && s.Adaptation.Transform != nil {
		tensors = append(tensors, transformTensors(adaptationPrefix, s.Adaptation.Transform)...)
	}
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return fileio.Write(path, func(w io.Writer) error {
		return invalid.At(path, safetensors.Write(w, tensors, map[string]string{headerKey: string(data)}))
	})
}

// transformTensors names the tensors of a preprocessing in files.
func transformTensors(prefix string, m *preprocess.Transform) []safetensors.Tensor {
	var t method.Tensors
	if m.Shift != nil {
		t = append(t, method.Vector("shift", m.Shift))
	}
	if m.Scale != nil {
		t = append(t, method.Vector("scale", m.Scale))
	}
	if m.Matrix.Data != nil {
		t = append(t, method.Tensor{Name: "matrix", Matrix: m.Matrix})
	}
	return named(prefix, t)
}

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
		if !numeric.AllFinite(t.F32) {
			return nil, &invalid.Error{Field: "tensor " + t.Name, Want: "finite values", Hint: "Train the model again."}
		}
	}
	s := &Saved{
		Method: h.Method, Dataset: h.Dataset, Dims: h.Dims, Attributes: h.Attributes, Groups: h.Groups, Semantic: h.Semantic,
		Classes: h.Classes, Split: h.Split, Learned: h.Learned, Provenance: h.Provenance, Adaptation: h.Adaptation,
		Pipeline: &model.Pipeline{},
	}
	if s.Descriptions, err = descriptions(f, len(h.Classes), len(h.Attributes)); err != nil {
		return nil, err
	}
	if s.Transform, err = readTransform(f, transformPrefix, h.Preprocess, h.Dims); err != nil {
		return nil, err
	}
	if a := h.Adaptation; a != nil && a.Preprocess != "" {
		if a.Transform, err = readTransform(f, adaptationPrefix, a.Preprocess, h.Dims); err != nil {
			return nil, err
		}
	}
	tensors, err := tensorsOf(f, methodPrefix)
	if err != nil {
		return nil, err
	}
	s.Classifier, err = h.Method.Settings.Restore(tensors, method.Shape{Dims: h.Dims, Attributes: len(h.Attributes), Groups: h.Semantic})
	if err != nil {
		return nil, invalid.At(h.Method.Label(), err)
	}
	s.Impute, err = impute.New(s.Descriptions.Gather(s.Learned), s.Semantic)
	return s, err
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
	return h, cmp.Or(h.Method.Check(), h.checkGroups())
}

// checkGroups returns an error unless each attribute is in a group, or none is.
func (h *header) checkGroups() error {
	m := len(h.Attributes)
	if h.Semantic != nil && len(h.Semantic) != m {
		return &invalid.Error{Field: "semantic", Want: fmt.Sprintf("the group of each of the %d attributes", m), Got: fmt.Sprint(len(h.Semantic))}
	}
	for i, g := range h.Semantic {
		if g < 0 || g >= len(h.Groups) {
			return &invalid.Error{Field: "semantic", Want: fmt.Sprintf("attribute %d in one of the %d groups", i, len(h.Groups)), Got: fmt.Sprint(g)}
		}
	}
	return nil
}

// tensorsOf returns the tensors of a prefix, without it.
func tensorsOf(f *safetensors.File, prefix string) (list method.Tensors, err error) {
	for _, t := range f.Tensors {
		name, ok := strings.CutPrefix(t.Name, prefix)
		if !ok {
			continue
		}
		if len(t.Shape) != 2 || t.F32 == nil {
			return nil, &invalid.Error{Field: "tensor " + name, Want: "float32 in rows and columns", Got: fmt.Sprintf("shape %v", t.Shape)}
		}
		list = append(list, method.Tensor{Name: name, Matrix: dataset.Matrix[float32]{Rows: t.Shape[0], Cols: t.Shape[1], Data: t.F32}})
	}
	return list, nil
}

func descriptions(f *safetensors.File, rows, cols int) (dataset.Matrix[float64], error) {
	t, ok := f.Tensor(descriptionsTensor)
	if !ok || t.F64 == nil || !slices.Equal(t.Shape, []int{rows, cols}) {
		return dataset.Matrix[float64]{}, &invalid.Error{
			Field: "tensor " + descriptionsTensor, Want: fmt.Sprintf("float64 of shape [%d %d]", rows, cols), Got: fmt.Sprintf("shape %v", t.Shape),
		}
	}
	return dataset.Matrix[float64]{Rows: rows, Cols: cols, Data: t.F64}, nil
}

// readTransform reads the fitted steps of a chain.
func readTransform(f *safetensors.File, prefix string, chain preprocess.Chain, dims int) (*preprocess.Transform, error) {
	t := &preprocess.Transform{Chain: chain}
	tensors, err := tensorsOf(f, prefix)
	if err != nil {
		return nil, invalid.At(strings.TrimSuffix(prefix, "."), err)
	}
	r := method.Reader{Tensors: tensors}
	if chain.Has(preprocess.Standardize) {
		t.Shift, t.Scale = r.Get("shift", 1, dims).Data, r.Get("scale", 1, dims).Data
	}
	if chain.Has(preprocess.Whiten) {
		t.Matrix = r.Get("matrix", dims, dims)
	}
	return t, invalid.At(strings.TrimSuffix(prefix, "."), r.Err)
}
