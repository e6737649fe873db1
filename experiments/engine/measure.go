package engine

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Measured is the accuracy on the classes that a stage evaluates, as fractions, over seeds.
type Measured struct {
	PerClass  lab.Summary      `json:"per_class_accuracy"`
	Interval  metrics.Interval `json:"interval"` // of PerClass over classes, whose accuracies are means over seeds
	PerSample lab.Summary      `json:"per_sample_accuracy"`
	Classes   int              `json:"classes"`
	Parts     int              `json:"parts"`  // of the classes; predictions are among those of a part
	Status    []train.Status   `json:"status"` // why each seed ended

	ByClass []lab.ClassAccuracy `json:"-"` // mean over seeds
}

// Chance is the expected accuracy of random predictions.
func (m Measured) Chance() float64 { return float64(m.Parts) / float64(m.Classes) }

// String returns the accuracy with its interval over classes and its standard error.
func (m Measured) String() string {
	return fmt.Sprintf("%s (95 %% over %d classes: %s; s.e.m. over %s: %s)",
		m.PerClass.MeanText(), m.Classes, m.Interval, format.Count(len(m.PerClass.Values), "seed"), m.PerClass.SEMText())
}

// Measure summarises the scores of finished runs over seeds. The accuracy of a seed is that
// on all classes of its runs, which may be of several parts or folds. Runs without a result
// are left out, and seeds that lack one of the parts.
func Measure(runs []lab.Run) *Measured {
	m := &Measured{}
	runs = complete(runs)
	var seeds []uint64
	bySeed := map[uint64]*mean{}
	parts := map[string]int{} // number of classes
	for _, r := range runs {
		e := r.Result.Evaluation
		s := bySeed[r.Seed]
		if s == nil {
			s = &mean{}
			seeds, bySeed[r.Seed] = append(seeds, r.Seed), s
		}
		s.add(e)
		parts[r.Fingerprint] = len(e.Classes)
		m.Status = append(m.Status, r.Result.Status)
	}
	var perClass, perSample []float64
	for _, seed := range seeds {
		perClass = append(perClass, bySeed[seed].perClass)
		perSample = append(perSample, bySeed[seed].perSample)
	}
	m.Parts = len(parts)
	for _, classes := range parts {
		m.Classes += classes
	}
	m.PerClass, m.PerSample = lab.Summarise(perClass), lab.Summarise(perSample)
	m.ByClass = lab.ClassAccuracies(runs)
	m.Interval = metrics.ClassInterval(lab.Accuracies(m.ByClass))
	return m
}

// InParts says, as the end of a sentence, what each class is in one of the parts of a rotation;
// nothing if there is one part.
func InParts(each string, parts int) string {
	if parts < 2 {
		return ""
	}
	return fmt.Sprintf(", each class %s in one of %d parts", each, parts)
}

// complete returns the runs with a result of the seeds that have one for each part of the
// given runs, one run of each seed and part.
func complete(runs []lab.Run) []lab.Run {
	type place struct {
		seed uint64
		part string
	}
	parts, done := map[string]bool{}, map[place]bool{}
	count := map[uint64]int{}
	var list []lab.Run
	for _, r := range runs {
		parts[r.Fingerprint] = true
		p := place{r.Seed, r.Fingerprint}
		if r.Result == nil || r.Result.Evaluation == nil || done[p] {
			continue
		}
		done[p] = true
		count[p.seed]++
		list = append(list, r)
	}
	return slices.DeleteFunc(list, func(r lab.Run) bool { return count[r.Seed] < len(parts) })
}

// mean is the mean accuracy of one seed over classes and over samples.
type mean struct{ perClass, classes, perSample, samples float64 }

func (m *mean) add(e *train.Evaluation) {
	var classes, samples float64
	counts, _ := metrics.Confusion(e.Confusion).Recall()
	for _, n := range counts {
		samples += float64(n)
		if n > 0 {
			classes++
		}
	}
	m.classes += classes
	m.samples += samples
	m.perClass += (e.PerClass - m.perClass) * (classes / m.classes)
	m.perSample += (e.PerSample - m.perSample) * (samples / m.samples)
}

// validation is the validation accuracy of runs over seeds, each value a mean over folds.
func validation(runs []lab.Run) lab.Summary {
	var seeds []uint64
	sums, counts := map[uint64]float64{}, map[uint64]int{}
	for _, r := range runs {
		if counts[r.Seed] == 0 {
			seeds = append(seeds, r.Seed)
		}
		sums[r.Seed] += r.Result.Evaluation.PerClass
		counts[r.Seed]++
	}
	values := make([]float64, len(seeds))
	for i, seed := range seeds {
		values[i] = sums[seed] / float64(counts[seed])
	}
	return lab.Summarise(values)
}

// DevEpoch returns the BestEpoch of the learning curves of dev runs. Further epochs of a run
// that converged would be like its last.
func DevEpoch(runs []lab.Run) (int, error) {
	curves := make([]train.Curve, len(runs))
	longest := 0
	for i, r := range runs {
		var err error
		if curves[i], err = train.ReadCurve(filepath.Join(r.Dir, train.CurveFile), train.Dev); err != nil {
			return 0, err
		}
		longest = max(longest, len(curves[i]))
	}
	for i, r := range runs {
		if n := len(curves[i]); n > 0 && r.Result.Status == train.Converged {
			curves[i] = append(curves[i], slices.Repeat(curves[i][n-1:], longest-n)...)
		}
	}
	return BestEpoch(curves), nil
}

// sumTolerance is the largest difference between sums of the same accuracies in
// different orders. One sample makes far more.
const sumTolerance = 1e-9

// BestEpoch returns the epoch with the highest validation accuracy of the average curve,
// over the epochs that every seed ran: the paper's rule for how long to train on train
// and validation classes together. Of equal epochs it is the first, of none 0.
func BestEpoch(curves []train.Curve) int {
	if len(curves) == 0 {
		return 0
	}
	best, top := 0, -1.0
	shortest := slices.MinFunc(curves, func(a, b train.Curve) int { return len(a) - len(b) })
	for e := range shortest {
		var sum float64
		for _, c := range curves {
			sum += *c[e].ValAccuracy
		}
		if sum > top+sumTolerance {
			best, top = e+1, sum
		}
	}
	return best
}

// ModelFiles returns the model file of each run.
func ModelFiles(runs []lab.Run) []string {
	files := make([]string, len(runs))
	for i, r := range runs {
		files[i] = filepath.Join(r.Dir, train.ModelFile)
	}
	return files
}

// AccuracyAxis is the title of an axis of accuracy in figures.
const AccuracyAxis = "per-class accuracy (%)"

// ClassesText describes the classes that a stage evaluates, with the chance level, for captions.
func ClassesText(m *Measured, stage string) string {
	return fmt.Sprintf("%s (chance %s)", format.Count(m.Classes, stage+" class"), format.Percent(m.Chance()))
}

// SeedsText gives the range of numbers of seeds: "2 seeds", or "1 to 5 seeds".
func SeedsText(counts []int) string {
	least, most := slices.Min(counts), slices.Max(counts)
	if least < most {
		return fmt.Sprintf("%d to %d seeds", least, most)
	}
	return format.Count(most, "seed")
}

// Dot draws a fraction in percent, with its interval over classes.
func Dot(row int, value float64, i metrics.Interval) plot.Dot {
	return plot.PercentDot(row, value, i.Low, i.High)
}

// Point draws a summary in percent, with its standard error.
func Point(x float64, s lab.Summary) plot.Point { return plot.PercentPoint(x, s.Mean, s.Margin()) }

// Row is the result of an arm over all parts, by the full protocol.
type Row struct {
	Name      string    `json:"name"`
	Title     string    `json:"title"`             // in tables and figures
	Variant   string    `json:"variant,omitempty"` // of LAGO; Mixed if the parts chose different ones
	Val       *Measured `json:"val"`
	Test      *Measured `json:"test"`
	Seconds   float64   `json:"seconds"`                     // to train one model on train and validation classes
	Tried     int       `json:"tried"`                       // number of settings in each part
	Parts     []Part    `json:"parts"`                       // one, or one for each part of a rotation
	Published string    `json:"published_percent,omitempty"` // test accuracy in table A.1, a number or a range
	RunDirs   []string  `json:"run_dirs"`

	Models   []string   `json:"-"` // files of those that were evaluated on the test classes
	Outcomes []*Outcome `json:"-"` // of the parts
}

// Part is what an arm chose without the test classes of one part.
type Part struct {
	Variant  string         `json:"variant,omitempty"`
	Epochs   int            `json:"epochs"` // on train and validation classes
	Settings map[string]any `json:"settings"`
	Edges    []Edge         `json:"edges"` // settings at an end of the searched values
}

// Mixed is the Variant of a Row whose parts chose different variants.
const Mixed = "mixed"

// Label names the arm and, for LAGO, the chosen variant.
func (m Row) Label() string {
	if m.Name == LAGOMethod {
		return fmt.Sprintf("LAGO (%s)", m.Variant)
	}
	return m.Title
}

// Chosen describes what each part chose, one line each.
func (m Row) Chosen() []string {
	var lines []string
	for i, p := range m.Parts {
		line := m.Name
		if len(m.Parts) > 1 {
			line += fmt.Sprintf(", part %d", i+1)
		}
		line += ": " + format.Count(p.Epochs, "epoch")
		if m.Name == LAGOMethod {
			line += ", " + p.Variant
		}
		for _, name := range slices.Sorted(maps.Keys(p.Settings)) {
			line += fmt.Sprintf(", %s %v", name, p.Settings[name])
		}
		for j, e := range p.Edges {
			if j == 0 {
				line += "; at an end of the searched values: "
			} else {
				line += ", "
			}
			line += e.Setting
		}
		lines = append(lines, line)
	}
	return lines
}

// Rows returns the rows of the arms whose stages all have their runs, and what is missing
// from them.
func (r *Result) Rows(p Plan, dataset string) ([]Row, []lab.Missing) {
	rows := []Row{}
	for i, arm := range p.Arms {
		outcomes := r.Arms[i]
		if len(outcomes) > 0 && !slices.ContainsFunc(outcomes, func(o *Outcome) bool { return !o.Done(p.Stage) }) {
			rows = append(rows, rowOf(arm, outcomes, dataset))
		}
	}
	return rows, lab.MissingOf(r.Failed())
}

func rowOf(arm Arm, outcomes []*Outcome, dataset string) Row {
	r := Row{Name: arm.Name, Title: arm.Title, Parts: []Part{}, Tried: outcomes[0].Tried, Outcomes: outcomes}
	var val, test []lab.Run
	for i, o := range outcomes {
		p := Part{Variant: string(o.Chosen.Method.Variant()), Epochs: o.Epochs, Settings: methodSettings(o.Chosen), Edges: o.Edges}
		if i == 0 {
			r.Variant = p.Variant
		} else if r.Variant != p.Variant {
			r.Variant = Mixed
		}
		r.Parts = append(r.Parts, p)
		val, test = append(val, o.Val...), append(test, o.Test...)
	}
	r.Val, r.Test, r.Models = Measure(val), Measure(test), ModelFiles(test)
	r.Published, _ = published.TestAccuracy(dataset, r.Title)
	for _, run := range slices.Concat(val, test) {
		r.RunDirs = append(r.RunDirs, run.Dir)
	}
	for _, run := range test {
		r.Seconds += run.Result.Seconds / float64(len(test))
	}
	return r
}

// methodSettings lists the settings that apply, without those of data and protocol.
func methodSettings(c Config) map[string]any {
	values := map[string]any{}
	for _, s := range c.Settings().Used() {
		if s.Scope == setting.Data || s.Scope == setting.Protocol || slices.Contains([]string{"variant", "epochs", "patience"}, s.Key) {
			continue
		}
		values[s.Key] = s.Value()
	}
	return values
}

// BaselineArm is the arm of a baseline with its defaults and, of common, the preprocessing and
// what all methods have.
func BaselineArm(name string, common Config, tune int) (Arm, error) {
	e, err := methods.Find(name)
	if err != nil {
		return Arm{}, err
	}
	c := common
	c.Method = e.Spec()
	return Arm{Name: e.Name, Title: e.Title, Starts: []Config{c}, Tune: tune}, nil
}

// SearchedBudget is the number of settings that a baseline tries beside variants that are not
// searched.
const SearchedBudget = 16

// FullPlan is the full protocol for variants with their settings, and for baselines, which
// try SearchedBudget settings with the preprocessing, seeds, epochs, patience and held-out
// samples of like.
func FullPlan(variants []Config, baselines []string, like Config) (Plan, error) {
	p := Plan{Stage: DevThenTest}
	for _, c := range variants {
		p.Arms = append(p.Arms, Arm{Name: c.Method.Label(), Title: published.Method(c.Method.Variant()), Starts: []Config{c}})
	}
	for _, name := range baselines {
		arm, err := BaselineArm(name, like, SearchedBudget)
		if err != nil {
			return p, err
		}
		arm.Fixed = []string{"preprocess", "ridge"}
		p.Arms = append(p.Arms, arm)
	}
	return p, nil
}

// ForBaselines returns the configuration whose preprocessing, seeds and epochs baselines have
// beside some variants: that of semantic-hard, which has the paper's main result, or the first.
func ForBaselines(variants []Config) Config {
	i := slices.IndexFunc(variants, func(c Config) bool { return c.Method.Variant() == model.SemanticHard })
	return variants[max(i, 0)]
}

// ChooseAdaptation chooses the settings of the adaptation to unlabelled samples on the
// validation classes of the outcome, by the dev run of one seed for each fold, since further
// seeds have the same samples, and stores them in the models of all its runs. Without a dev
// stage it does nothing.
func (o *Outcome) ChooseAdaptation(ctx context.Context) (*train.Adaptation, error) {
	var folds []adaptation.Fold
	for _, v := range o.Folds {
		i := slices.IndexFunc(o.Val, func(r lab.Run) bool { return r.Fingerprint == v.Fingerprint })
		if i >= 0 {
			folds = append(folds, adaptation.Fold{Model: ModelFiles(o.Val[i : i+1])[0], Data: v.Data, HoldOut: o.Val[i].HoldOut})
		}
	}
	return adaptation.ChooseAndStore(ctx, folds, ModelFiles(slices.Concat(o.Val, o.Test)))
}
