package predictor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// Model is a trained model with the record of its run.
type Model struct {
	*train.Saved
	Path  string       // of the file
	Trial *train.Trial // nil if there is no trial.json beside the file
}

// Open reads a model file, and the record of the run in its folder.
func Open(path string) (*Model, error) {
	saved, err := train.Load(path)
	if err != nil {
		return nil, err
	}
	record, err := train.ReadRecord(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return &Model{Saved: saved, Path: path}, nil
	}
	return &Model{saved, path, &record.Trial}, err
}

// Dir is the folder of the run.
func (m *Model) Dir() string { return filepath.Dir(m.Path) }

// Changed says how d, which has the name of the data set that the model was trained on, differs from
// it, "" if predictions and accuracies do not depend on that. harms reports whether they are worth less.
func (m *Model) Changed(d *dataset.Dataset) (text string, harms bool) {
	if m.Trial == nil || m.Dataset != d.Name || m.Trial.Fingerprint == d.Fingerprint() {
		return "", false
	}
	if !m.SameSamples(d) {
		return fmt.Sprintf("the features, labels or split of %s are not those that %s was trained on. Is it another --dev-split?", d.Name, m.Path), true
	}
	return m.Redescribed(d)
}

// Redescribed says which descriptions of d are not those of the training, "" if all are. harms reports
// whether classes that the model was trained on changed much.
func (m *Model) Redescribed(d *dataset.Dataset) (text string, harms bool) {
	const much = 0.1 // of the entries
	var changed, trained []string
	was := indexOf(d.Classes, m.Classes)
	for z, name := range d.Classes {
		entries := 0
		for i, p := range d.Descriptions.Row(z) {
			if was[z] >= 0 && math.Float64bits(p) != math.Float64bits(m.Descriptions.Row(was[z])[i]) {
				entries++
			}
		}
		if entries > 0 {
			changed = append(changed, name)
		}
		if float64(entries) > much*float64(len(d.Attributes)) && m.TrainedOn(name) {
			trained = append(trained, name)
		}
	}
	if changed == nil {
		return "", false
	}
	named := func(classes []string) string {
		const few = 5
		text := "descriptions of " + format.Count(len(classes), "class")
		if len(classes) <= few {
			text += " (" + format.Printable(strings.Join(classes, ", ")) + ")"
		}
		return text
	}
	text = named(changed) + " changed since training; predictions use the new ones"
	if trained != nil {
		text += ". More than a tenth of the entries changed in the " + named(trained) + " that it was trained on: repeat the command that trained it"
	}
	return text, trained != nil
}

// SameSamples reports whether the features, labels and split of d are those that the model was trained
// on. Descriptions may have changed, and classes without samples may have been added.
func (m *Model) SameSamples(d *dataset.Dataset) bool {
	if m.Trial == nil || m.Trial.Fingerprint == d.Fingerprint() {
		return true
	}
	was, place := *d, indexOf(d.Classes, m.Classes)
	was.Classes, was.Descriptions, was.Labels, was.Split = m.Classes, m.Descriptions, slices.Clone(d.Labels), between(d.Split, d.Classes, m.Classes)
	for i, z := range d.Labels {
		was.Labels[i] = place[z]
	}
	return m.Trial.Fingerprint == was.Fingerprint()
}

// View returns d with the split that the model was trained on, which is another one for the parts of a
// rotation and for other divisions into train and validation classes; d itself if anything else differs.
func (m *Model) View(d *dataset.Dataset) *dataset.Dataset {
	if m.SameSamples(d) {
		return d
	}
	v := *d
	if v.Split = between(m.Split, m.Classes, d.Classes); m.SameSamples(&v) {
		return &v
	}
	return d
}

// indexOf returns the index of each name in others, -1 of those that are missing there.
func indexOf(names, others []string) []int {
	at := make(map[string]int, len(others))
	for i, name := range others {
		at[name] = i
	}
	list := make([]int, len(names))
	for i, name := range names {
		list[i] = -1
		if place, ok := at[name]; ok {
			list[i] = place
		}
	}
	return list
}

// between returns a split of the classes with some names as one of others, without those that are
// missing there.
func between(s dataset.Split, from, to []string) dataset.Split {
	index := indexOf(from, to)
	place := func(classes []int) (list []int) {
		for _, z := range classes {
			if index[z] >= 0 {
				list = append(list, index[z])
			}
		}
		return list
	}
	return dataset.Split{Train: place(s.Train), Val: place(s.Val), Test: place(s.Test)}
}

// TrainedOnSample reports whether the model may have been trained on a sample of d.
func (m *Model) TrainedOnSample(d *dataset.Dataset, row int) bool {
	if m.Dataset != d.Name || m.Trial != nil && m.Trial.HoldOut && slices.Contains(d.TestSeen, row) {
		return false
	}
	return m.TrainedOn(d.Classes[d.Labels[row]])
}

// TrainingData returns the data set that the model was trained on, as far as the model file records
// it: without features and labels.
func (m *Model) TrainingData() *dataset.Dataset {
	d := &dataset.Dataset{
		Name: m.Dataset, Classes: m.Classes, Groups: m.Groups, Descriptions: m.Descriptions, Split: m.Split,
		Attributes: make([]dataset.Attribute, len(m.Attributes)),
	}
	for i, name := range m.Attributes {
		d.Attributes[i] = dataset.Attribute{Name: name, Group: -1}
		if m.Semantic != nil {
			d.Attributes[i].Group = m.Semantic[i]
		}
	}
	return d
}

// Described returns TrainingData with the classes and descriptions of t, in the way of the data set today. It
// reports false if t has not all attributes of the model.
func (m *Model) Described(t *descriptions.Table) (*dataset.Dataset, bool) {
	d, u := m.TrainingData(), t.Values()
	d.Split = between(m.Split, m.Classes, t.Classes)
	d.Classes, d.Descriptions = t.Classes, dataset.NewMatrix[float64](len(t.Classes), len(m.Attributes))
	for i, name := range m.Attributes {
		place := t.Attribute(name)
		if place < 0 {
			return nil, false
		}
		for z := range t.Classes {
			d.Descriptions.Row(z)[i] = u.Row(z)[place]
		}
	}
	return d, true
}

// CheckDims returns an error unless samples at a place have as many features as the model takes.
func (m *Model) CheckDims(where string, features int) error {
	if features == m.Dims {
		return nil
	}
	return &invalid.Error{
		Where: where, Want: fmt.Sprintf("%d features per sample, as the model was trained on", m.Dims), Got: fmt.Sprint(features),
	}
}

// With returns a copy of the model with another pipeline.
func (m *Model) With(p *model.Pipeline) *Model {
	saved := *m.Saved
	saved.Pipeline = p
	return &Model{&saved, m.Path, m.Trial}
}

// Options say how samples are predicted.
type Options struct {
	Impute       impute.Kind // "" as the model does
	Temperature  float64     // T of the probabilities softmax(s/T); 0 is that of the model
	Uncalibrated bool        // leave out the temperature that is stored with the model
	Adapt        bool        // adapt the predictions to all samples together
	ForceAdapt   bool        // to batches that are smaller than validation found safe, too
}

// Predictor predicts samples as one of some classes. It is not for concurrent use.
type Predictor struct {
	*Model
	Options
	Candidates Candidates
	// T of the probabilities: that of the options, otherwise the calibrated one, otherwise 1 for
	// LAGO. 0: the scores are no probabilities.
	Temperature float64
	// Seen and unseen classes are candidates together: their scores have the remedy that was chosen for this.
	Mixed bool

	explainer *model.Explainer // nil until it is used
}

// Predictor returns the predictor of the model for the candidates.
func (m *Model) Predictor(c Candidates, o Options) (*Predictor, error) {
	p := &Predictor{Model: m, Options: o, Candidates: c, Temperature: o.Temperature}
	if unseen := p.Unseen(); m.Generalised != nil && unseen > 0 && unseen < len(c.Names) {
		pipeline := *m.Pipeline
		pipeline.Correction, p.Mixed = m.Generalised.Correction, true
		if gamma := m.Generalised.Gamma; gamma != 0 {
			pipeline.Stacking = make([]float64, len(c.Names))
			for z, name := range c.Names {
				if m.TrainedOn(name) {
					pipeline.Stacking[z] = gamma
				}
			}
		}
		p.Model = m.With(&pipeline)
	}
	if o.Impute != "" {
		p.Model = m.With(p.WithImputation(o.Impute))
	}
	switch {
	case o.Temperature > 0:
	case m.Calibration != nil && !o.Uncalibrated:
		p.Temperature = m.Calibration.Temperature
	case m.Method.Name == methods.LAGO:
		p.Temperature = 1 // of log p(z|x)
	}
	if o.Adapt {
		if _, err := m.AdaptationSettings(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Adapts reports whether predictions are adapted, if the batch is large enough.
func (p *Predictor) Adapts() bool { return p.Adapt && p.Adaptation.Tau > 0 }

// AdaptsTo reports whether predictions are adapted to a batch of so many samples.
func (p *Predictor) AdaptsTo(samples int) bool {
	return p.Adapts() && (samples >= p.Adaptation.Smallest || p.ForceAdapt)
}

// Unseen counts the candidates that the model was not trained on.
func (p *Predictor) Unseen() (n int) {
	for _, name := range p.Candidates.Names {
		if !p.TrainedOn(name) {
			n++
		}
	}
	return n
}

// AdaptationSettings are those that are stored with the model. The error says how to choose them
// where it has none.
func (m *Model) AdaptationSettings() (*train.Adaptation, error) {
	if m.Adaptation != nil {
		return m.Adaptation, nil
	}
	return nil, &invalid.Error{
		Where: m.Path, Field: "adaptation", Want: "a temperature and tau, chosen on validation classes", Got: "none",
		Hint: "Repeat the command that trained it, lago-train run with --stage full or lago-train compare --adapt: finished runs are reused, and their models get them.",
	}
}

// Batch returns rows of x as what predictions are adapted to: preprocessed features, and scores for
// the classes that u describes; and their detections.
func (m *Model) Batch(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (b adapt.Block, detected dataset.Matrix[float32], err error) {
	if detected, err = m.Detect(x, rows); err == nil {
		b.Scores, err = m.Classify(detected, u)
	}
	if err == nil {
		b.X, err = m.AdaptedFeatures().Apply(x, rows)
	}
	return b, detected, err
}

// Candidates are the classes that a prediction chooses from: classes of a data set, and new ones
// that a file describes by the same attributes.
type Candidates struct {
	What  string                  // describes the set, as in "test classes"
	Names []string                // Z
	U     dataset.Matrix[float64] // Z x M, the class descriptions; NaN where an entry is missing
}

// Selection names classes of a data set by their role in its split.
type Selection string

// The selections.
const (
	Test  Selection = "test"
	Val   Selection = "val"
	Train Selection = "train"
	Seen  Selection = "seen" // train and val
	All   Selection = "all"  // including classes without a role
	// Unseen are those that a model was not trained on, including classes without a role.
	Unseen Selection = "unseen"
)

// Selections are all selections.
var Selections = []Selection{Unseen, Test, Val, Train, Seen, All}

// IsFile reports whether s is a file of descriptions, by its name. Reading one of JSON says that CSV is expected.
func (s Selection) IsFile() bool {
	return slices.Contains([]string{".csv", ".json"}, filepath.Ext(string(s)))
}

// ClassesOf returns the indices of the selected classes.
func (m *Model) ClassesOf(d *dataset.Dataset, s Selection) []int {
	if s != Unseen {
		return s.Classes(d)
	}
	return slices.DeleteFunc(d.Descriptions.AllRows(), func(z int) bool { return m.TrainedOn(d.Classes[z]) })
}

// Classes returns the indices of the selected classes, other than Unseen.
func (s Selection) Classes(d *dataset.Dataset) []int {
	if s == All {
		return d.Descriptions.AllRows()
	}
	return map[Selection][]int{Test: d.Split.Test, Val: d.Split.Val, Train: d.Split.Train, Seen: d.Split.Seen()}[s]
}

// SelectionOf returns the selection that a class belongs to: train, val or test, and test
// for a class without a role.
func SelectionOf(d *dataset.Dataset, class int) Selection {
	for _, s := range []Selection{Train, Val} {
		if slices.Contains(s.Classes(d), class) {
			return s
		}
	}
	return Test
}

// SelectedCandidates returns the classes of some selections from d, each class once: of unseen and all, those
// that are described.
func (m *Model) SelectedCandidates(d *dataset.Dataset, selections ...Selection) Candidates {
	var classes []int
	var distinct []string
	for _, s := range selections {
		if !slices.Contains(distinct, string(s)) {
			distinct = append(distinct, string(s))
		}
		for _, z := range m.ClassesOf(d, s) {
			described := s != Unseen && s != All || slices.ContainsFunc(d.Descriptions.Row(z), func(p float64) bool { return !math.IsNaN(p) })
			if described && !slices.Contains(classes, z) {
				classes = append(classes, z)
			}
		}
	}
	c := Candidates{What: strings.Join(distinct, " and ") + " classes", U: d.Describe(classes)}
	for _, z := range classes {
		c.Names = append(c.Names, d.Classes[z])
	}
	return c
}

// NewCandidates returns the classes of some selections from d and those that files in the list describe by the
// attributes of d; of an empty list those of otherwise.
func (m *Model) NewCandidates(ctx context.Context, d *dataset.Dataset, list []Selection, otherwise Selection) (c Candidates, err error) {
	if len(list) == 0 {
		list = []Selection{otherwise}
	}
	if selected := slices.DeleteFunc(slices.Clone(list), Selection.IsFile); len(selected) > 0 {
		c = m.SelectedCandidates(d, selected...)
	}
	for _, file := range list {
		if !file.IsFile() {
			continue
		}
		t, err := descriptions.Read(ctx, string(file), descriptions.AttributesOf(d))
		if err != nil {
			return c, err
		}
		if c, err = c.join(Candidates{"classes of " + string(file), t.Classes, t.Values()}); err != nil {
			return c, err
		}
	}
	return c, nil
}

// join returns the classes of c followed by those of more. Names must differ.
func (c Candidates) join(more Candidates) (Candidates, error) {
	if c.Names == nil {
		return more, nil
	}
	for _, name := range more.Names {
		if slices.Contains(c.Names, name) {
			return c, &invalid.Error{
				Where: more.What, Want: "names that differ from the " + c.What, Got: fmt.Sprintf("%q", name),
				Hint: "Rename the class or leave it out.",
			}
		}
	}
	u := dataset.Matrix[float64]{Rows: c.U.Rows + more.U.Rows, Cols: c.U.Cols, Data: slices.Concat(c.U.Data, more.U.Data)}
	return Candidates{c.What + " and " + more.What, slices.Concat(c.Names, more.Names), u}, nil
}
