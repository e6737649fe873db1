// Package predictor predicts with a trained model: a Predictor is a Model with the candidates and the
// decision, see model.Decision, which corrects, calibrates and adapts its scores. The decision is chosen
// here, too, on validation classes by models that were not trained on these, and stored in model files.
//
// Predictions of many samples, explanations of one, and the scores of package evaluation all go through two
// functions: what corrects the scores of a class is model.Correction, and what is done to corrected scores is
// Predictor.decide.
package predictor

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// Model is a trained model that predicts classes of data sets.
type Model struct{ *train.Saved }

// Open reads a model file.
func Open(path string) (*Model, error) {
	saved, err := train.Load(path)
	return &Model{saved}, err
}

// Changed says how d, which has the name of the data set that the model was trained on, differs from
// it, "" if predictions and accuracies do not depend on that. harms reports whether they are worth less.
func (m *Model) Changed(d *dataset.Dataset) (text string, harms bool) {
	if m.Trial == nil || m.Dataset != d.Name || m.Trial.Fingerprint == d.Fingerprint() {
		return "", false
	}
	if !m.SameSamples(d) {
		return fmt.Sprintf("the features, labels or split of %s are not those that %s was trained on. "+
			"Is it another --dev-split?", d.Name, m.Path), true
	}
	return m.Redescribed(d)
}

// Redescribed says which descriptions of d are not those of the training, "" if all are. harms reports
// whether classes that the model was trained on changed much.
func (m *Model) Redescribed(d *dataset.Dataset) (text string, harms bool) {
	const much = 0.1 // of the entries
	var changed []string
	trained := 0 // of these that changed much
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
			trained++
		}
	}
	if changed == nil {
		return "", false
	}
	const few = 5 // to name
	text = "descriptions of " + format.Count(len(changed), "class")
	if len(changed) <= few {
		text += " (" + format.Printable(strings.Join(changed, ", ")) + ")"
	}
	text += " changed since training; predictions use the new ones"
	if trained > 0 {
		text += ". More than a tenth of the entries changed in the descriptions of " +
			format.Count(trained, "class") + " that it was trained on: repeat the command that trained it"
	}
	return text, trained > 0
}

// SameSamples reports whether the features, labels and split of d are those that the model was trained
// on. Descriptions may have changed, and classes without samples may have been added.
func (m *Model) SameSamples(d *dataset.Dataset) bool {
	if m.Trial == nil || m.Trial.Fingerprint == d.Fingerprint() {
		return true
	}
	was, place := *d, indexOf(d.Classes, m.Classes)
	was.Classes, was.Descriptions, was.Labels, was.Split = m.Classes, m.Descriptions, slices.Clone(d.Labels),
		between(d.Split, d.Classes, m.Classes)
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
// reports false if t has not all attributes of the model, of which the others are missing.
func (m *Model) Described(t *descriptions.Table) (d *dataset.Dataset, complete bool) {
	u := t.Values()
	d, complete = m.TrainingData(), true
	d.Split = between(m.Split, m.Classes, t.Classes)
	d.Classes, d.Descriptions = t.Classes, dataset.NewMatrix[float64](len(t.Classes), len(m.Attributes))
	for i, name := range m.Attributes {
		place := t.Attribute(name)
		complete = complete && place >= 0
		for z := range t.Classes {
			d.Descriptions.Row(z)[i] = math.NaN()
			if place >= 0 {
				d.Descriptions.Row(z)[i] = u.Row(z)[place]
			}
		}
	}
	return d, complete
}

// CheckDims returns an error unless samples at a place have as many features as the model takes.
func (m *Model) CheckDims(where string, features int) error {
	if features == m.Dims {
		return nil
	}
	return invalid.At(where, invalid.Expected("", features,
		"%d features per sample, as the model was trained on", m.Dims))
}

// With returns a copy of the model with another pipeline.
func (m *Model) With(p *model.Pipeline) *Model {
	saved := *m.Saved
	saved.Pipeline = p
	return &Model{&saved}
}

// Options say how samples are predicted.
type Options struct {
	Temperature float64 // T of the probabilities softmax(s/T); 0 is that of the model
	Adapt       bool    // adapt the predictions to all samples together
}

// Predictor predicts samples as one of some classes. It is not for concurrent use.
type Predictor struct {
	*Model
	Options
	Candidates Candidates
	// T of the probabilities: that of the options, otherwise the calibrated one, otherwise 1 for
	// LAGO. 0: the scores are no probabilities.
	Temperature float64
	Mixed       bool // seen and unseen classes are candidates together, see model.Decision

	explainer *model.Explainer // nil until it is used
}

// Predictor returns the predictor of the model for the candidates.
func (m *Model) Predictor(c Candidates, o Options) (*Predictor, error) {
	p := &Predictor{Model: m, Options: o, Candidates: c, Temperature: o.Temperature}
	if unseen := p.Unseen(); unseen > 0 && unseen < len(c.Names) {
		pipeline := *m.Pipeline
		pipeline.Decision, p.Mixed = m.Decision.ForMixed(), true
		p.Model = m.With(&pipeline)
	}
	switch {
	case o.Temperature > 0:
	case p.Decision.Calibration != nil:
		p.Temperature = p.Decision.Calibration.Temperature
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

// decide does to the corrected scores of a sample, one for each candidate, what the decision says, in place.
// The softmax of the result is p(z|x) unless Temperature is 0. All predictions that are not adapted to a
// batch go through it; explanations take what it adds to a score for a part of the correction.
func (p *Predictor) decide(scores []float64) {
	if p.Temperature > 0 {
		floats.Scale(1/p.Temperature, scores)
	}
}

// Scores returns the decided scores of samples, rows of x, for the candidates.
func (p *Predictor) Scores(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	scores, err := model.Score(p.Pipeline, x, rows, p.Candidates.U)
	for i := range scores.Rows {
		row := scores.Row(i)
		for z, s := range p.decided(row) {
			row[z] = float32(s)
		}
	}
	return scores, err
}

func (p *Predictor) decided(scores []float32) []float64 {
	decided := make([]float64, len(scores))
	for z, s := range scores {
		decided[z] = float64(s)
	}
	p.decide(decided)
	return decided
}

// fitShare returns the share of the held-out samples whose best class of as many candidates fits less well.
func (p *Predictor) fitShare(fit float64) float64 {
	return p.Decision.Fit.Share(fit, len(p.Candidates.Names))
}

// Adapts reports whether predictions are adapted.
func (p *Predictor) Adapts() bool { return p.Adapt && p.Decision.Adaptation.Tau > 0 }

// Unseen counts the candidates that the model was not trained on.
func (p *Predictor) Unseen() (n int) {
	for _, name := range p.Candidates.Names {
		if !p.TrainedOn(name) {
			n++
		}
	}
	return n
}

// CalibrationText says in one line what was chosen, and whether that helped.
func CalibrationText(c *model.Calibration) string {
	if c == nil {
		return "none: no temperature fits the validation classes"
	}
	text := fmt.Sprintf("temperature %.3g; expected calibration error on validation classes "+
		"that did not choose it: ", c.Temperature)
	if c.ErrorBefore == nil {
		return text + fmt.Sprintf("%.3f", c.ErrorAfter)
	}
	text += fmt.Sprintf("%.3f -> %.3f", *c.ErrorBefore, c.ErrorAfter)
	if !Calibrated(c) {
		text += ", not lower: treat probabilities as a ranking"
	}
	return text
}

// Calibrated reports whether probabilities are closer to accuracies with the temperature.
func Calibrated(c *model.Calibration) bool {
	return c != nil && (c.ErrorBefore == nil || c.ErrorAfter < *c.ErrorBefore)
}

// AdaptationSettings are those that are stored with the model. The error says how to choose them
// where it has none.
func (m *Model) AdaptationSettings() (*model.Adaptation, error) {
	if a := m.Decision.Adaptation; a != nil {
		return a, nil
	}
	return nil, &invalid.Error{
		Where: m.Path, Field: "adaptation", Want: "a temperature and tau, chosen on validation classes",
		Got: "none",
		Hint: "Repeat the command that trained it, lago-train run with --stage full: finished runs are " +
			"reused, and their models get them.",
	}
}

// AdaptationWarning says why predictions are not adapted, "" if they are.
func AdaptationWarning(a *model.Adaptation) string {
	if a.Tau > 0 {
		return ""
	}
	return fmt.Sprintf("adaptation is not recommended for this model (no reliable gain on %s)",
		format.Count(a.Classes, "validation class"))
}

const (
	fitDraws    = 5    // of candidates, for each number of them
	mostFitting = 1024 // candidates, and validation classes of a draw: work grows with their product
)

// measureFit measures how well samples of validation classes fit their best class among numbers of
// candidates, theirs among them: random parts of the validation classes, then all of these with random train
// classes.
func measureFit(ctx context.Context, folds []*fold) (*model.Fit, error) {
	measured, classes, most := new(model.Fit), map[int]bool{}, mostFitting
	described := make([]dataset.Matrix[float64], len(folds)) // by class
	for i, f := range folds {
		most = min(most, len(f.data.Split.Seen()))
		measured.Samples += len(f.rows)
		for _, z := range f.classes {
			classes[z] = true
		}
		// Imputed once, by all classes that are drawn: of a sparse table this takes seconds.
		drawn := slices.Concat(f.classes, f.data.Split.Train)
		u, err := f.Imputed(f.data.Describe(drawn))
		if err != nil {
			return nil, err
		}
		described[i] = dataset.NewMatrix[float64](len(f.data.Classes), u.Cols)
		for k, z := range drawn {
			copy(described[i].Row(z), u.Row(k))
		}
	}
	measured.Classes = len(classes)
	for n := 1; ; n = min(n+max(n/2, 1), most) {
		var fits []float64
		r := rand.New(rand.NewPCG(17, uint64(n)))
		for range fitDraws {
			for i, f := range folds {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				drawn, err := f.fits(n, described[i], r)
				if err != nil {
					return nil, err
				}
				fits = append(fits, drawn...)
			}
		}
		if measured.Add(n, fits); n == most {
			return measured, nil
		}
	}
}

// fits returns the fits of the samples, each among n candidates, which are described by class.
func (f *fold) fits(n int, described dataset.Matrix[float64], r *rand.Rand) (all []float64, err error) {
	val, seen := f.classes, f.data.Split.Train
	others := max(n-len(val), 0) // train classes
	order := r.Perm(len(val))
	order = order[:min(len(order), mostFitting)]
	of := make([][]int, len(val))
	for i, z := range f.labels {
		of[z] = append(of[z], i)
	}
	for from := 0; from < len(order); from += n {
		to := min(from+n, len(order))
		from = max(to-n, 0) // the last part has n classes, too
		part := order[from:to]
		var candidates, rows []int
		for _, z := range part {
			candidates, rows = append(candidates, val[z]), append(rows, of[z]...)
		}
		for _, z := range r.Perm(len(seen))[:others] {
			candidates = append(candidates, seen[z])
		}
		fits, err := f.BestFit(f.detected.Gather(rows), described.Gather(candidates))
		if err != nil {
			return nil, err
		}
		all = append(all, fits...)
	}
	return all, nil
}
