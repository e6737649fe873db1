package train

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/safetensors"
)

// Load reads a model file. Errors name the file and the tensor or field.
func Load(path string) (*Saved, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	h, err := readHeader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := tensorReader{file: f, path: path}
	s := &Saved{
		Baseline: h.Baseline, Dataset: h.Dataset, Dims: h.Dims, Attributes: h.Attributes, Groups: h.Groups, Semantic: h.Semantic,
		Classes: h.Classes, Split: h.Split, Learned: h.Learned,
		Descriptions: r.float64s(descriptionsTensor, len(h.Classes), len(h.Attributes)),
		Transform:    &preprocess.Transform{Kind: h.Preprocess},
	}
	switch h.Preprocess {
	case preprocess.Standardize:
		s.Transform.Shift, s.Transform.Scale = r.matrix("preprocess.shift", h.Dims).Data, r.matrix("preprocess.scale", h.Dims).Data
	case preprocess.Whiten:
		s.Transform.Matrix = r.matrix("preprocess.matrix", h.Dims, h.Dims)
	}
	if h.Config != nil {
		s.loadLAGO(&r, *h.Config)
	}
	if r.err != nil {
		return nil, r.err
	}
	if h.Config == nil {
		err = s.loadBaseline(f)
	} else {
		err = s.checkGroups()
	}
	if err == nil {
		err = s.learnGaps()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// learnGaps gives the classifier the rule for partial descriptions that it had where
// it was trained.
func (s *Saved) learnGaps() error {
	learned := dataset.NewMatrix[float64](len(s.Learned), s.Descriptions.Cols)
	for i, z := range s.Learned {
		copy(learned.Row(i), s.Descriptions.Row(z))
	}
	rule, err := impute.New(learned, s.Semantic)
	if err != nil {
		return err
	}
	switch c := s.Classifier.(type) {
	case *model.LAGO:
		c.Impute = rule
	case *model.Preprocessed:
		c.Impute = rule
	}
	return nil
}

// readHeader reads and checks what is beside the tensors.
func readHeader(f *safetensors.File) (*header, error) {
	h := new(header)
	if err := json.Unmarshal([]byte(f.Metadata["lago"]), h); err != nil {
		return nil, fmt.Errorf("metadata \"lago\": expected the header of a model of lago-train: %w", err)
	}
	if h.Format != modelFormat {
		return nil, fmt.Errorf("format: expected %q, found %q", modelFormat, h.Format)
	}
	for _, part := range []struct {
		name string
		n    int
	}{{"attributes", len(h.Attributes)}, {"classes", len(h.Classes)}, {"dims", h.Dims}} {
		if part.n < 1 {
			return nil, fmt.Errorf("%s: expected at least one, found %d", part.name, part.n)
		}
	}
	if len(h.Learned) == 0 {
		return nil, fmt.Errorf("learned: expected the classes that the model learned from, found none: train it anew")
	}
	for _, part := range append(h.Split.Subsets(), dataset.Subset{Name: "learned", Classes: h.Learned}) {
		for _, z := range part.Classes {
			if z < 0 || z >= len(h.Classes) {
				return nil, fmt.Errorf("split: %s: expected classes from 0 to %d, found %d", part.Name, len(h.Classes)-1, z)
			}
		}
	}
	switch {
	case h.Config != nil && h.Baseline.Method != "":
		return nil, fmt.Errorf("config: expected none beside the baseline %s, found one", h.Baseline.Method)
	case h.Config != nil:
		return h, h.Config.Check()
	}
	return h, h.Baseline.Check()
}

func (s *Saved) loadLAGO(r *tensorReader, c model.Config) {
	m := len(s.Attributes)
	s.Method = string(c.Variant)
	s.Classifier = &model.LAGO{
		Config: c, Semantic: s.Semantic, Transform: s.Transform,
		Params: &model.Parameters[float32]{W: r.matrix("W", s.Dims, m), B: r.matrix("b", m).Data, V: r.matrix("V", m, -1)},
	}
}

func (s *Saved) loadBaseline(f *safetensors.File) error {
	var tensors baseline.Tensors
	for _, t := range f.Tensors {
		name, ok := strings.CutPrefix(t.Name, baselinePrefix)
		if !ok {
			continue
		}
		if len(t.Shape) != 2 || t.F32 == nil {
			return fmt.Errorf("tensor %s: expected float32 in rows and columns, found shape %v", t.Name, t.Shape)
		}
		tensors = append(tensors, baseline.Tensor{Name: name, Matrix: dataset.Matrix[float32]{Rows: t.Shape[0], Cols: t.Shape[1], Data: t.F32}})
	}
	m, err := s.Baseline.Settings.Restore(tensors)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Baseline.Method, err)
	}
	s.Method, s.Classifier = s.Baseline.Method, &model.Preprocessed{TwoStage: m, Transform: s.Transform}
	return nil
}

// checkGroups returns an error where V or the groups of the attributes are not those
// of the variant.
func (s *Saved) checkGroups() error {
	l, err := s.LAGO("groups")
	if err != nil {
		return err
	}
	m, k := len(s.Attributes), l.Config.K
	if len(s.Semantic) != m && (s.Semantic != nil || l.Config.Variant.Semantic()) {
		return fmt.Errorf("semantic: expected the group of each of the %d attributes, found %d", m, len(s.Semantic))
	}
	for i, g := range s.Semantic {
		if g < 0 || g >= len(s.Groups) {
			return fmt.Errorf("semantic: expected attribute %d in one of the %d groups, found %d", i, len(s.Groups), g)
		}
	}
	switch {
	case l.Config.Variant == model.Singletons:
		k = m
	case l.Config.Variant.Semantic():
		k = slices.Max(s.Semantic) + 1
	}
	if l.Params.V.Cols != k {
		return fmt.Errorf("tensor V: expected the %d groups of %s, found %d", k, l.Config.Variant, l.Params.V.Cols)
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

// float64s returns a matrix of float64 of the given sizes.
func (r *tensorReader) float64s(name string, rows, cols int) dataset.Matrix[float64] {
	t, ok := r.file.Tensor(name)
	if !ok || t.F64 == nil || !slices.Equal(t.Shape, []int{rows, cols}) {
		if r.err == nil {
			r.err = fmt.Errorf("%s: tensor %s: expected float64 of shape [%d %d], found %v", r.path, name, rows, cols, t.Shape)
		}
		return dataset.Matrix[float64]{}
	}
	return dataset.Matrix[float64]{Rows: rows, Cols: cols, Data: t.F64}
}
