package train

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/metrics"
)

// Saved is a trained model and what it needs of its data set to predict classes without
// it.
type Saved struct {
	Method string // a variant of LAGO, or the name of a baseline
	// Classifier takes features as in the data set. It is a *model.LAGO, or a
	// *model.Preprocessed with a baseline.
	Classifier model.Classifier
	Baseline   methods.Spec          // zero for LAGO
	Transform  *preprocess.Transform // of the features, which the classifier applies

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

// LAGO returns the model if it is a LAGO. command is what needs one, for the error.
func (s *Saved) LAGO(command string) (*model.LAGO, error) {
	if l, ok := s.Classifier.(*model.LAGO); ok {
		return l, nil
	}
	return nil, &invalid.Error{Where: command, Want: "a LAGO model", Got: s.Method}
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
			Hint: fmt.Sprintf("The %s model was trained on %s.", s.Method, s.Dataset),
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

// SetImputation sets how the classifier imputes missing entries. Models are loaded with
// impute.Neutral.
func (s *Saved) SetImputation(kind impute.Kind) {
	s.Classifier = model.WithImputation(s.Classifier, kind)
}

// header is the metadata of a model file. Its tensors are the descriptions, those of the
// preprocessing, and W, b and V of LAGO or those of a baseline.
type header struct {
	Format     string              `json:"format"`
	Dataset    string              `json:"dataset"`
	Config     *model.Config       `json:"config,omitempty"` // of LAGO
	Baseline   methods.Spec        `json:"baseline,omitzero"`
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
	modelFormat        = "lago-train model 3"
	headerKey          = "lago" // in the metadata
	descriptionsTensor = "descriptions"
	baselinePrefix     = "baseline."
	transformPrefix    = "preprocess."
	adaptationPrefix   = "adaptation."
)

// Save writes a model as a safetensors file, with a header in the metadata.
func Save(path string, s *Saved) error {
	h := header{
		Format: modelFormat, Dataset: s.Dataset, Baseline: s.Baseline, Attributes: s.Attributes, Groups: s.Groups,
		Semantic: s.Semantic, Classes: s.Classes, Split: s.Split, Learned: s.Learned, Preprocess: s.Transform.Chain, Dims: s.Dims,
		Provenance: s.Provenance, Adaptation: s.Adaptation,
	}
	tensors := []safetensors.Tensor{{
		Name: descriptionsTensor, Shape: []int{s.Descriptions.Rows, s.Descriptions.Cols}, F64: s.Descriptions.Data,
	}}
	switch c := s.Classifier.(type) {
	case *model.LAGO:
		h.Config = &c.Config
		tensors = append(tensors, parameterTensors("", c.Params)...)
	case *model.Preprocessed:
		tensors = append(tensors, baselineTensors(baselinePrefix, c.Classifier.(baseline.Model).Tensors())...)
	default:
		panic(fmt.Sprintf("a %T cannot be saved", c))
	}
	tensors = append(tensors, transformTensors(transformPrefix, s.Transform)...)
	if s.Adaptation != nil && s.Adaptation.Transform != nil {
		tensors = append(tensors, transformTensors(adaptationPrefix, s.Adaptation.Transform)...)
	}
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		return invalid.At(path, safetensors.Write(w, tensors, map[string]string{headerKey: string(data)}))
	})
}

// transformTensors names the tensors of a preprocessing in files.
func transformTensors(prefix string, m *preprocess.Transform) []safetensors.Tensor {
	var list []safetensors.Tensor
	if m.Shift != nil {
		list = append(list, vector(prefix+"shift", m.Shift))
	}
	if m.Scale != nil {
		list = append(list, vector(prefix+"scale", m.Scale))
	}
	if m.Matrix.Data != nil {
		list = append(list, safetensors.Tensor{Name: prefix + "matrix", Shape: []int{m.Matrix.Rows, m.Matrix.Cols}, F32: m.Matrix.Data})
	}
	return list
}
