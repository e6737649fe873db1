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

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/methods"
)

// Saved is a trained model and what it needs of its data set to predict classes without
// it. Its JSON is the header of a model file.
type Saved struct {
	*model.Pipeline `json:"-"`

	Path  string `json:"-"` // of the file that it was loaded from
	Trial *Trial `json:"-"` // that trained it; nil if there is no trial.json beside the file

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
	// names of the features; nil if they are not known
	Columns []string `json:"columns,omitempty"`
	// what was missing among the features; nil for nothing
	Absent *dataset.Absent `json:"absent,omitempty"`
}

// AdaptedFeatures returns the preprocessing of the features that predictions are adapted to.
func (s *Saved) AdaptedFeatures() *preprocess.Transform {
	if a := s.Decision.Adaptation; a != nil && a.Transform != nil {
		return a.Transform
	}
	return s.Transform
}

// Dir is the folder of the run.
func (s *Saved) Dir() string { return filepath.Dir(s.Path) }

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
			return bad(fmt.Sprintf("attribute %d", m), fmt.Sprintf("%q", s.Attributes[m]),
				fmt.Sprintf("%q", a.Name))
		}
	}
	return nil
}

func newSaved(t Trial, p *model.Pipeline, data *Data) *Saved {
	d := data.Dataset
	p.Transform = data.Transform
	s := &Saved{
		Pipeline: p, Run: t.Name(), Method: t.Method, Dataset: d.Name, Groups: d.Groups,
		Semantic: d.GroupOf(), Classes: d.Classes, Descriptions: d.Descriptions, Split: d.Split,
		Learned: data.TrainClasses, Dims: d.Features.Cols, Provenance: d.Provenance, Columns: d.Columns,
		Absent: d.Absent,
	}
	for _, a := range d.Attributes {
		s.Attributes = append(s.Attributes, a.Name)
	}
	return s
}

// header is the metadata of a model file. Its tensors are the descriptions, the reference,
// those of the preprocessing and those of the method. The decision is added to it.
type header struct {
	Format string `json:"format"`
	*Saved
	Preprocess preprocess.Chain `json:"preprocess"`
}

const (
	modelFormat        = "lago-train model 9"
	descriptionsTensor = "descriptions"
	correctionPrefix   = "correction."
	methodPrefix       = "method."
	transformPrefix    = "preprocess."
)

// Save writes a model as a safetensors file, with a header and its decision in the metadata.
func Save(path string, s *Saved) error {
	text, err := json.Marshal(header{modelFormat, s, s.Transform.Chain})
	if err != nil {
		return err
	}
	u := safetensors.Tensor{Name: descriptionsTensor, F64: s.Descriptions.Data}
	u.Shape = []int{s.Descriptions.Rows, s.Descriptions.Cols}
	correction := method.Tensors{
		{Name: "stored", Matrix: s.Reference.Detections},
		method.Vector("centre", []float32{s.Reference.Centre}),
	}
	if s.Reference.Deciles.Rows > 0 {
		correction = append(correction, method.Tensor{Name: "deciles", Matrix: s.Reference.Deciles})
	}
	f := &safetensors.File{
		Tensors: slices.Concat([]safetensors.Tensor{u},
			named(methodPrefix, s.Classifier.(method.Model).Tensors()), named(correctionPrefix, correction),
			named(transformPrefix, transformTensors(s.Transform))),
		Metadata: map[string]string{modelKey: string(text)},
	}
	if err := addDecision(f, s.Decision); err != nil {
		return err
	}
	return writeTensors(path, f)
}

func transformTensors(m *preprocess.Transform) method.Tensors {
	t := method.Tensors{
		method.Vector("shift", m.Shift), method.Vector("scale", m.Scale),
		{Name: "matrix", Matrix: m.Matrix},
		method.Vector("diagonal", m.Diagonal),
	}
	return slices.DeleteFunc(t, func(t method.Tensor) bool { return t.Matrix.Data == nil })
}

// Load reads a model file and checks it. In the folder of a run it must be of that run; a copy
// elsewhere is of any. Errors are *invalid.Error and name the file and the tensor or field.
func Load(path string) (*Saved, error) {
	h := &header{Saved: &Saved{Pipeline: &model.Pipeline{}}}
	f, err := readTensors(path)
	if err != nil {
		return nil, err
	}
	if err = checkFormat(f.Metadata); err == nil {
		err = parse(f.Metadata, modelKey, h)
	}
	if err == nil {
		err = h.Method.Check()
	}
	if err == nil {
		err = h.check()
	}
	if err == nil {
		err = h.load(f)
	}
	if err != nil {
		return nil, invalid.At(path, err)
	}
	h.Path = path
	return h.Saved, h.readTrial()
}

// checkFormat returns an error for a model of another version of the program, whose header may have other
// keys.
func checkFormat(metadata map[string]string) error {
	var header struct{ Format string }
	err := json.Unmarshal([]byte(metadata[modelKey]), &header)
	if err != nil || header.Format == modelFormat {
		return nil // what is no header is refused where it is parsed
	}
	return &invalid.Error{
		Field: "format", Want: strconv.Quote(modelFormat), Got: invalid.Quote(header.Format),
		Hint: "The model was saved by another version of the program: train it again.",
	}
}

// readTrial reads the trial of the run in whose folder the file is. The model must be of that run.
func (s *Saved) readTrial() error {
	record, err := ReadRecord(s.Dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && record.Trial.checkRun(s.Run) != nil {
		err = &invalid.Error{
			Where: s.Path, Want: "the model of " + record.Trial.Name() + ", the run of its folder",
			Got:  "that of " + s.Run,
			Hint: "To use this model, move it to another folder. To train the run again, delete its folder.",
		}
	}
	s.Trial = &record.Trial
	return err
}

// check returns an *invalid.Error where a name of the header is none, where it refers to a class or a group
// that there is not, and where lists have other lengths than what they belong to.
func (s *Saved) check() error {
	if s.Semantic != nil && len(s.Semantic) != len(s.Attributes) {
		return invalid.Expected("semantic", format.Count(len(s.Semantic), "number"),
			"one group for each attribute")
	}
	if len(s.Learned) == 0 {
		return invalid.Expected("learned", "none", "at least one class")
	}
	if !slices.Equal(s.Learned, s.Split.Train) && !slices.Equal(s.Learned, s.Split.Seen()) {
		return invalid.Expected("learned", s.Learned, "the train classes of the split, or all seen ones")
	}
	ofFeatures := func(field string, n int) error {
		if n != 0 && n != s.Dims {
			return invalid.Expected(field, n, "one of each of %d features", s.Dims)
		}
		return nil
	}
	within := func(field string, list []int, names []string) error {
		if i := slices.IndexFunc(list, func(i int) bool { return i < 0 || i >= len(names) }); i >= 0 {
			return invalid.Expected(field, list[i], "numbers from 0 to %d", len(names)-1)
		}
		return nil
	}
	split := slices.Concat(s.Split.Train, s.Split.Val, s.Split.Test)
	return cmp.Or(
		ofFeatures("columns", len(s.Columns)), ofFeatures("absent", s.Absent.Len()),
		checkNames("classes", s.Classes), checkNames("attributes", s.Attributes),
		checkNames("groups", s.Groups),
		within("semantic", s.Semantic, s.Groups), within("split", split, s.Classes),
		once("split", split), once("classes", s.Classes),
	)
}

func once[T cmp.Ordered](field string, list []T) error {
	if len(slices.Compact(slices.Sorted(slices.Values(list)))) < len(list) {
		return invalid.Expected(field, list, "each class at most once")
	}
	return nil
}

func checkNames(field string, names []string) error {
	for i, text := range names {
		if _, want := dataset.CheckName(text); want != "" {
			return invalid.Expected(fmt.Sprintf("%s, entry %d", field, i), invalid.Quote(text), "%s", want)
		}
	}
	return nil
}

func (h *header) load(f *safetensors.File) (err error) {
	t, ok := f.Tensor(descriptionsTensor)
	e := &invalid.Error{Field: "tensor " + descriptionsTensor}
	if want := []int{len(h.Classes), len(h.Attributes)}; !ok || t.F64 == nil || !slices.Equal(t.Shape, want) {
		e.Want, e.Got = fmt.Sprintf("float64 of shape %v", want), fmt.Sprintf("shape %v", t.Shape)
		return e
	}
	// NaN is missing
	if i := slices.IndexFunc(t.F64, func(p float64) bool { return p < 0 || p > 1 }); i >= 0 {
		e.Want, e.Got = "probabilities from 0 to 1", fmt.Sprint(t.F64[i])
		return e
	}
	h.Descriptions = matrix.Of(t.F64, t.Shape[1])
	h.Impute = &impute.Imputer{Reference: h.Descriptions.Gather(h.Learned)}
	if h.Transform, err = readTransform(f, transformPrefix, h.Preprocess, h.Dims); err != nil {
		return err
	}
	shape := method.Shape{Dims: h.Dims, Attributes: len(h.Attributes), Groups: h.Semantic}
	if h.Classifier, err = h.Method.Restore(readerOf(f, methodPrefix), shape); err != nil {
		return invalid.At(h.Method.Label(), err)
	}
	r := readerOf(f, correctionPrefix)
	h.Reference.Detections = r.Get("stored", -1, -1)
	if centre := r.Get("centre", 1, 1); r.Err == nil {
		h.Reference.Centre = centre.Data[0]
	}
	if len(r.Tensors) > 2 {
		h.Reference.Deciles = r.Get("deciles", 9, h.Reference.Detections.Cols)
	}
	if r.Err != nil {
		return invalid.At("correction", r.Err)
	}
	h.Decision, err = readDecision(f)
	return err
}

// readerOf returns a reader of the tensors of a prefix, without it.
func readerOf(f *safetensors.File, prefix string) *method.Reader {
	r := new(method.Reader)
	for _, t := range f.Tensors {
		name, ok := strings.CutPrefix(t.Name, prefix)
		switch {
		case !ok:
		case len(t.Shape) != 2 || t.F32 == nil:
			r.Err = invalid.Expected("tensor "+name, fmt.Sprintf("shape %v", t.Shape),
				"float32 in rows and columns")
		default:
			m := dataset.Matrix[float32]{Rows: t.Shape[0], Cols: t.Shape[1], Data: t.F32}
			r.Tensors = append(r.Tensors, method.Tensor{Name: name, Matrix: m})
		}
	}
	return r
}

// readTransform reads the fitted steps of a chain; dims -1 stands for any.
func readTransform(f *safetensors.File, prefix string, chain preprocess.Chain,
	dims int,
) (*preprocess.Transform, error) {
	t, r := &preprocess.Transform{Chain: chain}, readerOf(f, prefix)
	if chain.Has(preprocess.Standardise) {
		t.Shift, t.Scale = r.Get("shift", 1, dims).Data, r.Get("scale", 1, dims).Data
	}
	if chain.Has(preprocess.Whiten) {
		rows := dims
		if slices.ContainsFunc(r.Tensors, func(t method.Tensor) bool { return t.Name == "diagonal" }) {
			t.Diagonal, rows = r.Get("diagonal", 1, 1).Data, -1
		}
		t.Matrix = r.Get("matrix", rows, dims)
	}
	return t, invalid.At(strings.TrimSuffix(prefix, "."), r.Err)
}

// decisionKey is that of the metadata of a model file, apart from the checksum of its tensors, and
// adaptationPrefix that of the tensors of Adaptation.Transform.
const (
	decisionKey      = safetensors.Added + "decision"
	adaptationPrefix = safetensors.Added + "adaptation."
)

// Decide changes the decision of the model in the folder of a run, under the lock of the run, for
// which it waits. change replaces values; what they point to stays as it is. The file is replaced
// as a whole, or not at all if nothing changes.
func Decide(ctx context.Context, dir string, change func(*model.Decision)) error {
	lock, err := fileio.Lock(ctx, filepath.Join(dir, LockFile), false, func() {})
	if err != nil {
		return cmp.Or(ctx.Err(), invalid.File(filepath.Join(dir, LockFile), err))
	}
	defer func() { _ = lock.Unlock() }() // the system frees it, too
	path := filepath.Join(dir, ModelFile)
	f, err := readTensors(path)
	if err != nil {
		return err
	}
	before, err := readDecision(f)
	if err != nil {
		return invalid.At(path, err)
	}
	d := before
	if change(&d); reflect.DeepEqual(before, d) {
		return nil
	}
	if err := addDecision(f, d); err != nil {
		return err
	}
	return writeTensors(path, f)
}

// ReadDecision reads the decision of the model in the folder of a run, without tensors.
func ReadDecision(dir string) (d model.Decision, err error) {
	path := filepath.Join(dir, ModelFile)
	metadata, err := safetensors.ReadMetadata(path)
	if err == nil {
		err = checkFormat(metadata)
	}
	if err == nil {
		d, err = parseDecision(metadata)
	}
	return d, invalid.At(path, err)
}

func addDecision(f *safetensors.File, d model.Decision) error {
	f.RemoveAdded()
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	f.Metadata[decisionKey] = string(text)
	if d.Adaptation != nil && d.Adaptation.Transform != nil {
		f.Tensors = append(f.Tensors, named(adaptationPrefix, transformTensors(d.Adaptation.Transform))...)
	}
	return nil
}

func readDecision(f *safetensors.File) (d model.Decision, err error) {
	if d, err = parseDecision(f.Metadata); err != nil {
		return d, err
	}
	if a := d.Adaptation; a != nil && a.Preprocess != "" {
		a.Transform, err = readTransform(f, adaptationPrefix, a.Preprocess, -1)
	}
	return d, err
}

func parseDecision(metadata map[string]string) (d model.Decision, err error) {
	if err = parse(metadata, decisionKey, &d); err == nil {
		err = d.Check()
	}
	return d, err
}
