package train

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Saved is a trained model and what it needs of its data set to predict classes without
// it. Its JSON is the header of a model file.
type Saved struct {
	*model.Pipeline `json:"-"`

	Run        string        `json:"run"`     // that trained it, see Trial.Name
	Dataset    string        `json:"dataset"` // that it was trained on
	Method     methods.Named `json:"method"`
	Attributes []string      `json:"attributes"`       // names, in the order of descriptions
	Groups     []string      `json:"groups,omitempty"` // names, nil where the data set has none
	// the group of each attribute, nil where the data set has none
	Semantic     []int                   `json:"semantic,omitempty"`
	Classes      []string                `json:"classes"` // of the data set, seen or unseen
	Descriptions dataset.Matrix[float64] `json:"-"`       // of the classes, NaN for missing entries
	Split        dataset.Split           `json:"split"`   // of the classes
	// the classes trained on, from which missing entries are imputed
	Learned    []int               `json:"learned"`
	Dims       int                 `json:"dims"`                 // D, of the features
	Provenance *dataset.Provenance `json:"provenance,omitempty"` // of the features; nil if it is not known
	Columns    []string            `json:"columns,omitempty"`    // names of the features; nil if they are not known
	Absent     *dataset.Absent     `json:"absent,omitempty"`     // what was missing among the features; nil for nothing

	// decisions, beside the correction of the Pipeline
	Calibration *Calibration `json:"-"` // nil if it was not chosen, or if no temperature fits
	Adaptation  *Adaptation  `json:"-"` // nil if it was not chosen
	Fit         *Fit         `json:"-"` // nil if it was not measured
	Generalised *Remedy      `json:"-"` // nil if it was not chosen
}

// AdaptedFeatures returns the preprocessing of the features that predictions are adapted to.
func (s *Saved) AdaptedFeatures() *preprocess.Transform {
	if s.Adaptation != nil && s.Adaptation.Transform != nil {
		return s.Adaptation.Transform
	}
	return s.Transform
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

// newSaved returns a model of preprocessed features with what it needs of the data that it was trained on.
func newSaved(t Trial, p *model.Pipeline, data *Data) *Saved {
	d := data.Dataset
	p.Transform = data.Transform
	s := &Saved{
		Run: t.Name(), Method: t.Method, Pipeline: p, Dataset: d.Name, Dims: d.Features.Cols, Groups: d.Groups, Semantic: d.GroupOf(),
		Classes: d.Classes, Descriptions: d.Descriptions, Split: d.Split, Learned: data.TrainClasses, Provenance: d.Provenance,
		Columns: d.Columns, Absent: d.Absent,
	}
	for _, a := range d.Attributes {
		s.Attributes = append(s.Attributes, a.Name)
	}
	return s
}

// header is the metadata of a model file. Its tensors are the descriptions, the stored detections,
// those of the preprocessing and those of the method. Decisions are added to it.
type header struct {
	Format string `json:"format"`
	*Saved
	Preprocess preprocess.Chain `json:"preprocess"`
}

const (
	modelFormat        = "lago-train model 8"
	descriptionsTensor = "descriptions"
	correctionPrefix   = "correction."
	storedTensor       = correctionPrefix + "stored"
	centreTensor       = correctionPrefix + "centre"
	decilesTensor      = correctionPrefix + "deciles"
	methodPrefix       = "method."
	transformPrefix    = "preprocess."
)

// Save writes a model as a safetensors file, with a header and its decisions in the metadata.
func Save(path string, s *Saved) error {
	tensors := []safetensors.Tensor{{
		Name: descriptionsTensor, Shape: []int{s.Descriptions.Rows, s.Descriptions.Cols}, F64: s.Descriptions.Data,
	}}
	tensors = append(tensors, named(methodPrefix, s.Classifier.(method.Model).Tensors())...)
	stored := method.Tensors{{Name: storedTensor, Matrix: s.Stored.Detections}, method.Vector(centreTensor, []float32{float32(s.Stored.Centre)})}
	if s.Stored.Deciles.Rows > 0 {
		stored = append(stored, method.Tensor{Name: decilesTensor, Matrix: s.Stored.Deciles})
	}
	tensors = append(tensors, named("", stored)...)
	tensors = append(tensors, transformTensors(transformPrefix, s.Transform)...)
	text, err := json.Marshal(header{modelFormat, s, s.Transform.Chain})
	if err != nil {
		return err
	}
	f := &safetensors.File{Tensors: tensors, Metadata: map[string]string{modelKey: string(text)}}
	d := Decisions{s.Correction.Canonical(), s.Calibration, s.Adaptation, s.Fit, s.Generalised}
	if err := d.addTo(f); err != nil {
		return err
	}
	return writeTensors(path, f)
}

func transformTensors(prefix string, m *preprocess.Transform) []safetensors.Tensor {
	t := method.Tensors{method.Vector("shift", m.Shift), method.Vector("scale", m.Scale), {Name: "matrix", Matrix: m.Matrix}}
	return named(prefix, slices.DeleteFunc(t, func(t method.Tensor) bool { return t.Matrix.Data == nil }))
}

// Load reads a model file and checks it. In the folder of a run it must be of that run; a copy
// elsewhere is of any. Errors are *invalid.Error and name the file and the tensor or field.
func Load(path string) (*Saved, error) {
	h := &header{Saved: &Saved{Pipeline: &model.Pipeline{}}}
	f, err := readTensors(path)
	if err != nil {
		return nil, err
	}
	if err = parse(f.Metadata, modelKey, h); err == nil && h.Format != modelFormat {
		err = &invalid.Error{
			Field: "format", Want: strconv.Quote(modelFormat), Got: strconv.Quote(h.Format),
			Hint: "The model was saved by another version of the program: train it again.",
		}
	}
	if err == nil {
		err = h.Method.Check()
	}
	if err == nil {
		err = h.load(f)
	}
	if err != nil {
		return nil, invalid.At(path, err)
	}
	return h.Saved, h.belongs(path)
}

// belongs returns an error where the file of a model is in the folder of another run.
func (s *Saved) belongs(path string) error {
	record, err := ReadRecord(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && record.Trial.checkRun(s.Run) != nil {
		err = &invalid.Error{
			Where: path, Want: "the model of " + record.Trial.Name() + ", the run of its folder", Got: "that of " + s.Run,
			Hint: "To use this model, move it to another folder. To train the run again, delete its folder.",
		}
	}
	return err
}

// load sets what is in the tensors of a file.
func (h *header) load(f *safetensors.File) (err error) {
	t, ok := f.Tensor(descriptionsTensor)
	if want := []int{len(h.Classes), len(h.Attributes)}; !ok || t.F64 == nil || !slices.Equal(t.Shape, want) {
		return &invalid.Error{Field: "tensor " + descriptionsTensor, Want: fmt.Sprintf("float64 of shape %v", want), Got: fmt.Sprintf("shape %v", t.Shape)}
	}
	if i := slices.IndexFunc(t.F64, func(p float64) bool { return p < 0 || p > 1 }); i >= 0 { // NaN is missing
		return &invalid.Error{Field: "tensor " + descriptionsTensor, Want: "probabilities from 0 to 1", Got: fmt.Sprint(t.F64[i])}
	}
	h.Descriptions = dataset.Matrix[float64]{Rows: t.Shape[0], Cols: t.Shape[1], Data: t.F64}
	if h.Transform, err = readTransform(f, transformPrefix, h.Preprocess, h.Dims); err != nil {
		return err
	}
	tensors, err := tensorsOf(f, methodPrefix)
	if err != nil {
		return err
	}
	h.Classifier, err = h.Method.Restore(tensors, method.Shape{Dims: h.Dims, Attributes: len(h.Attributes), Groups: h.Semantic})
	if err != nil {
		return invalid.At(h.Method.Label(), err)
	}
	if tensors, err = tensorsOf(f, correctionPrefix); err != nil {
		return err
	}
	r := method.Reader{Tensors: tensors}
	stored, centre := r.Get("stored", -1, -1), r.Get("centre", 1, 1)
	if r.Err != nil {
		return invalid.At("correction", r.Err)
	}
	h.Stored = model.Stored{Detections: stored, Centre: float64(centre.Data[0]), Kind: h.Method.Corrections()[1].Kind}
	if len(tensors) > 2 {
		if h.Stored.Deciles = r.Get("deciles", 9, stored.Cols); r.Err != nil {
			return invalid.At("correction", r.Err)
		}
	}
	d, err := readDecisions(f)
	if err != nil {
		return err
	}
	h.Correction, h.Calibration, h.Adaptation, h.Fit, h.Generalised = d.Correction, d.Calibration, d.Adaptation, d.Fit, d.Generalised
	h.Impute = impute.New(h.Descriptions.Gather(h.Learned))
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

// readTransform reads the fitted steps of a chain; dims -1 stands for any.
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

// Decisions are what is chosen after training. No weight depends on them: they are no part of a
// Trial, and a model file holds them apart from the checksum of its tensors.
type Decisions struct {
	model.Correction              // of the scores
	Calibration      *Calibration `json:"calibration,omitempty"` // nil if it was not chosen, or if no temperature fits
	Adaptation       *Adaptation  `json:"adaptation,omitempty"`  // nil if it was not chosen
	Fit              *Fit         `json:"fit,omitempty"`         // nil if it was not measured
	Generalised      *Remedy      `json:"generalised,omitempty"` // nil if it was not chosen
}

// Remedy makes up for the higher scores of seen classes where they are candidates together with unseen
// ones, as chosen on validation classes and held-out samples of train classes.
type Remedy struct {
	model.Correction         // in place of that of the model
	Gamma            float64 `json:"gamma"` // subtracted from the scores of seen classes
	// the harmonic mean of the accuracies by which it was chosen; 0 if there was no held-out sample
	Validation float64 `json:"validation_harmonic_mean"`
}

// String lists omega and gamma.
func (r Remedy) String() string {
	text := ""
	if r.On() {
		text = fmt.Sprintf(", omega %g", r.Omega)
	}
	if r.Gamma != 0 {
		text += fmt.Sprintf(", gamma %.3g", r.Gamma)
	}
	return strings.TrimPrefix(text, ", ")
}

// Calibration is what makes probabilities of the scores s, softmax(s/T), as chosen on validation
// classes. A model has none if it was not chosen, or if no temperature fits.
type Calibration struct {
	Temperature float64 `json:"temperature"` // T
	// expected calibration error on the validation classes with T = 1; null for baselines
	ErrorBefore *float64 `json:"error_before"`
	ErrorAfter  float64  `json:"error_after"` // the same with T
	Samples     int      `json:"samples"`
	Classes     int      `json:"classes"`
}

// Adaptation is how predictions are adapted to a batch of unlabelled samples, as chosen on
// validation classes. Accuracies are those on these, as fractions.
type Adaptation struct {
	adapt.Settings // with Tau 0 adaptation is off
	// of the features that are adapted to, if not that of the model
	Preprocess preprocess.Chain      `json:"preprocess,omitempty"`
	Transform  *preprocess.Transform `json:"-"`
	Before     float64               `json:"before"`   // validation accuracy without adaptation
	After      float64               `json:"after"`    // validation accuracy with it
	Interval   *metrics.Interval     `json:"interval"` // of the change, over classes; null if adaptation is off
	Samples    int                   `json:"samples"`
	Classes    int                   `json:"classes"`
}

// decisionsKey is that of the metadata of a model file, and adaptationPrefix that of the tensors of
// Adaptation.Transform.
const (
	decisionsKey     = safetensors.Added + "decisions"
	adaptationPrefix = safetensors.Added + "adaptation."
)

// Decide changes the decisions of the model in the folder of a run, under the lock of the run, for
// which it waits. change replaces values; what they point to stays as it is. The file is replaced
// as a whole, or not at all if nothing changes.
func Decide(ctx context.Context, dir string, change func(*Decisions) error) error {
	lock := lockOf(dir)
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return cmp.Or(ctx.Err(), invalid.File(lock.Path(), err))
	}
	defer func() { _ = lock.Unlock() }() // the system frees it, too
	path := filepath.Join(dir, ModelFile)
	f, err := readTensors(path)
	if err != nil {
		return err
	}
	before, err := readDecisions(f)
	if err != nil {
		return invalid.At(path, err)
	}
	d := before
	if err := change(&d); err != nil || reflect.DeepEqual(before, d) {
		return err
	}
	if err := d.addTo(f); err != nil {
		return err
	}
	return writeTensors(path, f)
}

// ReadCorrection reads the correction that was decided for the model in the folder of a run.
func ReadCorrection(dir string) (model.Correction, error) {
	path := filepath.Join(dir, ModelFile)
	metadata, err := safetensors.ReadMetadata(path)
	if err != nil {
		return model.Correction{}, err
	}
	var d Decisions
	err = parse(metadata, decisionsKey, &d)
	return d.Correction, invalid.At(path, err)
}

// addTo replaces the decisions in a model file.
func (d Decisions) addTo(f *safetensors.File) error {
	f.RemoveAdded()
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	f.Metadata[decisionsKey] = string(text)
	if d.Adaptation != nil && d.Adaptation.Transform != nil {
		f.Tensors = append(f.Tensors, transformTensors(adaptationPrefix, d.Adaptation.Transform)...)
	}
	return nil
}

// readDecisions reads those of a model file.
func readDecisions(f *safetensors.File) (d Decisions, err error) {
	if err := parse(f.Metadata, decisionsKey, &d); err != nil {
		return d, err
	}
	const leastTemperature, mostTemperature = 1e-18, 1e18 // quotients of scores stay finite
	if c := d.Calibration; c != nil && !(c.Temperature >= leastTemperature && c.Temperature <= mostTemperature) {
		return d, &invalid.Error{
			Field: "calibration: temperature", Want: fmt.Sprintf("a number from %g to %g", leastTemperature, mostTemperature), Got: fmt.Sprint(c.Temperature),
			Hint: "Train the model again.",
		}
	}
	if f := d.Fit; f != nil && (len(f.Quantiles) < 2 || !slices.IsSorted(f.Quantiles)) {
		return d, &invalid.Error{Field: "fit: quantiles", Want: "at least two numbers, the lowest first", Got: fmt.Sprint(f.Quantiles), Hint: "Train the model again."}
	}
	if a := d.Adaptation; a != nil && a.Preprocess != "" {
		a.Transform, err = readTransform(f, adaptationPrefix, a.Preprocess, -1)
	}
	return d, err
}
