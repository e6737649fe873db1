package train

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/condition"
	"github.com/lago-train/lago-train/train/safetensors"
)

// Saved is a trained model as its file holds it.
type Saved struct {
	model.LAGO
	Dataset    string   // that it was trained on
	Attributes []string // names of the attributes, in the order of descriptions
	Groups     []string // names of the groups, nil where the data set names none
}

// header is what a model file says beside its tensors W, b, V and, with a
// conditioning, shift and scale or map.
type header struct {
	Format     string         `json:"format"`
	Dataset    string         `json:"dataset"`
	Config     model.Config   `json:"config"`
	Attributes []string       `json:"attributes"`
	Groups     []string       `json:"groups,omitempty"`
	Semantic   []int          `json:"semantic,omitempty"`
	Condition  condition.Kind `json:"condition"`
}

const modelFormat = "lago-train model 1"

// Save writes a model as a safetensors file, whole or not at all. The header's
// metadata has one entry, "lago", a JSON object with what scoring needs beside
// the tensors.
func Save(path string, s *Saved) error {
	h, err := json.Marshal(header{
		modelFormat, s.Dataset, s.Config, s.Attributes, s.Groups, s.Semantic, s.Map.Kind,
	})
	if err != nil {
		return err
	}
	tensors := append(parameterTensors("", s.Params), mapTensors(s.Map)...)
	return atomicfile.Write(path, func(w io.Writer) error {
		return safetensors.Write(w, tensors, map[string]string{"lago": string(h)})
	})
}

// mapTensors names what a conditioning is made of; none has nothing.
func mapTensors(m *condition.Map) []safetensors.Tensor {
	var list []safetensors.Tensor
	if m.Shift != nil {
		list = append(list, vector("condition.shift", m.Shift))
	}
	if m.Scale != nil {
		list = append(list, vector("condition.scale", m.Scale))
	}
	if m.Matrix.Data != nil {
		list = append(list, safetensors.Tensor{Name: "condition.matrix", Shape: []int{m.Matrix.Rows, m.Matrix.Cols}, F32: m.Matrix.Data})
	}
	return list
}

// Load reads a model file. Errors name the file and the tensor or field.
func Load(path string) (*Saved, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var h header
	if err := json.Unmarshal([]byte(f.Metadata["lago"]), &h); err != nil {
		return nil, fmt.Errorf("%s: metadata \"lago\": expected the header of a model of lago-train: %w", path, err)
	}
	if h.Format != modelFormat {
		return nil, fmt.Errorf("%s: format: expected %q, found %q", path, modelFormat, h.Format)
	}
	if err := h.Config.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m := len(h.Attributes)
	if m == 0 {
		return nil, fmt.Errorf("%s: attributes: expected at least one, found none", path)
	}
	r := tensorReader{file: f, path: path}
	s := &Saved{Dataset: h.Dataset, Attributes: h.Attributes, Groups: h.Groups}
	s.LAGO = model.LAGO{Config: h.Config, Semantic: h.Semantic}
	w := r.matrix("W", -1, m)
	s.Params = &model.Parameters[float32]{W: w, B: r.matrix("b", m).Data, V: r.matrix("V", m, -1)}
	s.Map = &condition.Map{Kind: h.Condition}
	switch h.Condition {
	case condition.Standardize:
		s.Map.Shift, s.Map.Scale = r.matrix("condition.shift", w.Rows).Data, r.matrix("condition.scale", w.Rows).Data
	case condition.Whiten:
		s.Map.Matrix = r.matrix("condition.matrix", w.Rows, w.Rows)
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := s.checkGroups(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// checkGroups returns an error where V or the groups of the attributes are not those
// of the variant.
func (s *Saved) checkGroups() error {
	m, k := len(s.Attributes), s.Config.K
	if len(s.Semantic) != m && (s.Semantic != nil || s.Config.Variant.Semantic()) {
		return fmt.Errorf("semantic: expected the group of each of the %d attributes, found %d", m, len(s.Semantic))
	}
	for i, g := range s.Semantic {
		if g < 0 || g >= len(s.Groups) {
			return fmt.Errorf("semantic: expected attribute %d in one of the %d groups, found %d", i, len(s.Groups), g)
		}
	}
	switch {
	case s.Config.Variant == model.Singletons:
		k = m
	case s.Config.Variant.Semantic():
		k = slices.Max(s.Semantic) + 1
	}
	if s.Params.V.Cols != k {
		return fmt.Errorf("tensor V: expected the %d groups of %s, found %d", k, s.Config.Variant, s.Params.V.Cols)
	}
	return nil
}

// tensorReader takes tensors of known shapes from a file and keeps the first
// error.
type tensorReader struct {
	file *safetensors.File
	path string
	err  error
}

// matrix returns a tensor of the given shape, where -1 stands for any size; a
// vector is returned as one row.
func (r *tensorReader) matrix(name string, shape ...int) dataset.Matrix[float32] {
	t, ok := r.file.Tensor(name)
	fits := ok && t.F32 != nil && len(t.Shape) == len(shape)
	for i := 0; fits && i < len(shape); i++ {
		fits = t.Shape[i] > 0 && (shape[i] < 0 || shape[i] == t.Shape[i])
	}
	if !fits {
		if r.err == nil {
			r.err = fmt.Errorf("%s: tensor %s: expected float32 of shape %v (-1 is any), found %v", r.path, name, shape, t.Shape)
		}
		return dataset.Matrix[float32]{}
	}
	if len(shape) == 1 {
		return dataset.Matrix[float32]{Rows: 1, Cols: t.Shape[0], Data: t.F32}
	}
	return dataset.Matrix[float32]{Rows: t.Shape[0], Cols: t.Shape[1], Data: t.F32}
}
