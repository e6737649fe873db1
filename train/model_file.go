package train

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/safetensors"
)

// Saved is a trained model as its file holds it: the classifier, and what it must
// know of the data set that it was trained on to name classes without it.
type Saved struct {
	Method string // a variant of LAGO, or the name of a baseline
	// Classifier takes features as they are in the data set. It is a *model.LAGO, or
	// a *model.Preprocessed with a baseline.
	Classifier model.TwoStage
	Baseline   methods.Spec          // zero for LAGO
	Transform  *preprocess.Transform // of the features, which the classifier applies

	Dataset      string                  // that it was trained on
	Dims         int                     // D, of the features
	Attributes   []string                // names, in the order of descriptions
	Groups       []string                // names, nil where the data set names none
	Semantic     []int                   // the group of each attribute, nil where there are none
	Classes      []string                // of the data set, seen or not
	Descriptions dataset.Matrix[float64] // of the classes, NaN where an attribute is not described
	Split        dataset.Split           // of the classes
	Learned      []int                   // the classes that it learned from, by which gaps in descriptions are filled
}

// LAGO returns the model where it is one of LAGO. what names the question that only
// LAGO has an answer to.
func (s *Saved) LAGO(what string) (*model.LAGO, error) {
	if l, ok := s.Classifier.(*model.LAGO); ok {
		return l, nil
	}
	return nil, fmt.Errorf("%s: expected a model of LAGO, found one of %s", what, s.Method)
}

// Fits returns an error that names both where the model does not take the features
// or the descriptions of the data set.
func (s *Saved) Fits(d *dataset.Dataset) error {
	who := fmt.Sprintf("the model of %s trained on %s does not fit the data set %s", s.Method, s.Dataset, d.Name)
	if s.Dims != d.Features.Cols {
		return fmt.Errorf("%s: dimensions of the features: expected %d, found %d", who, s.Dims, d.Features.Cols)
	}
	if len(s.Attributes) != len(d.Attributes) {
		return fmt.Errorf("%s: attributes: expected %d, found %d", who, len(s.Attributes), len(d.Attributes))
	}
	for m, a := range d.Attributes {
		if a.Name != s.Attributes[m] {
			return fmt.Errorf("%s: attribute %d: expected %q, found %q", who, m, s.Attributes[m], a.Name)
		}
	}
	return nil
}

// SetImputation chooses how the classifier takes what descriptions leave out; models are
// loaded with impute.Neutral.
func (s *Saved) SetImputation(kind impute.Kind) {
	s.Classifier = model.WithImputation(s.Classifier, kind)
}

// header is what a model file says beside its tensors: descriptions, those of the
// preprocessing, and W, b and V of LAGO or those of a baseline.
type header struct {
	Format     string          `json:"format"`
	Dataset    string          `json:"dataset"`
	Config     *model.Config   `json:"config,omitempty"` // of LAGO
	Baseline   methods.Spec    `json:"baseline,omitzero"`
	Attributes []string        `json:"attributes"`
	Groups     []string        `json:"groups,omitempty"`
	Semantic   []int           `json:"semantic,omitempty"`
	Classes    []string        `json:"classes"`
	Split      dataset.Split   `json:"split"`
	Learned    []int           `json:"learned"`
	Preprocess preprocess.Kind `json:"preprocess"`
	Dims       int             `json:"dims"`
}

const (
	modelFormat        = "lago-train model 2"
	descriptionsTensor = "descriptions"
	baselinePrefix     = "baseline."
)

// Save writes a model as a safetensors file, whole or not at all. The header's
// metadata has one entry, "lago", a JSON object with what scoring needs beside
// the tensors.
func Save(path string, s *Saved) error {
	h := header{
		Format: modelFormat, Dataset: s.Dataset, Baseline: s.Baseline, Attributes: s.Attributes, Groups: s.Groups,
		Semantic: s.Semantic, Classes: s.Classes, Split: s.Split, Learned: s.Learned, Preprocess: s.Transform.Kind, Dims: s.Dims,
	}
	tensors := []safetensors.Tensor{{
		Name: descriptionsTensor, Shape: []int{s.Descriptions.Rows, s.Descriptions.Cols}, F64: s.Descriptions.Data,
	}}
	switch c := s.Classifier.(type) {
	case *model.LAGO:
		h.Config = &c.Config
		tensors = append(tensors, parameterTensors("", c.Params)...)
	case *model.Preprocessed:
		tensors = append(tensors, baselineTensors(baselinePrefix, c.TwoStage.(baseline.Model).Tensors())...)
	default:
		panic(fmt.Sprintf("train: a %T is not saved", c))
	}
	tensors = append(tensors, mapTensors(s.Transform)...)
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		return safetensors.Write(w, tensors, map[string]string{"lago": string(data)})
	})
}

// mapTensors names what a preprocessing is made of; none has nothing.
func mapTensors(m *preprocess.Transform) []safetensors.Tensor {
	var list []safetensors.Tensor
	if m.Shift != nil {
		list = append(list, vector("preprocess.shift", m.Shift))
	}
	if m.Scale != nil {
		list = append(list, vector("preprocess.scale", m.Scale))
	}
	if m.Matrix.Data != nil {
		list = append(list, safetensors.Tensor{Name: "preprocess.matrix", Shape: []int{m.Matrix.Rows, m.Matrix.Cols}, F32: m.Matrix.Data})
	}
	return list
}
