// Package results has what a study implements, and its results: the accuracy over seeds and classes, rows of
// tables and their figures, the report on what is stored, and the list of runs.
package results

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/lab/search"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Study is a question asked of many runs: it has settings, plans runs, and sums up their outcomes. It runs
// and stores nothing itself: Ask does, for every study. After Plan, its JSON is the configuration of the
// stored result.
type Study interface {
	// Settings lists the settings of the study, which are bound to its fields and those of r.
	Settings(r *config.Request) setting.List
	// Plan says what to run on the data of a lab, with the presets of r.
	Plan(r *config.Request, l *lab.Lab) (lab.Plan, error)
	// Summarise makes the result of what was run.
	Summarise(ctx context.Context, l *lab.Lab, done *lab.Outcomes) (Result, error)
}

// What some studies can do beside. Check refuses settings before any data are read.
type (
	Checker interface{ Check(r *config.Request) error }

	// Single is a study of one method alone, whose epochs are shown as they end.
	Single interface{ Single() }

	// OfModel is a study that can also be asked of a trained model, without training.
	OfModel interface {
		AskModel(d *dataset.Dataset, m *train.Saved) (Result, error)
	}

	// Writer is a study that also writes files for users. Before there is a result, found is nil.
	Writer interface {
		Files(found Result) []File
	}

	// Followed is a result that names the command to go on with. latest is the model that was trained last,
	// as users name it, and data the folder of data sets, "" for the usual one.
	Followed interface {
		Follow(latest, data string)
	}
)

// File is a file that a study writes for users.
type File struct {
	Flag   string // that names it
	Path   string // "" for none
	Begins string // how such a file begins, by which one of an earlier call is recognised
	Write  func(io.Writer) error
}

// Ask carries out a study on the parts of a lab, and stores the result.
func Ask(ctx context.Context, s Study, r *config.Request, l *lab.Lab) (Result, error) {
	plan, err := s.Plan(r, l)
	if err != nil {
		return nil, err
	}
	done, err := search.Run(ctx, l, plan)
	if err != nil {
		return nil, err
	}
	found, err := s.Summarise(ctx, l, done)
	if err != nil {
		return nil, err
	}
	return found, l.Store(found.KindName(), s, found)
}

// Result is the result of a study: its JSON is what the command prints and what is stored.
type Result interface {
	Tables() []*table.Table
	// Figures draws the result. dir is the folder that holds the runs.
	Figures(dir string) ([]plot.Figure, error)
	// KindName is the name of its Kind.
	KindName() string
}

// Kind is a kind of results, as they are stored and shown.
type Kind struct {
	Name    string // in stored results and in addresses
	Title   string
	Text    string // how to read it
	Command string // that stores a result
	New     func() Result
}

// Header is what the results of all studies have in common.
type Header struct {
	Kind    string        `json:"kind"`  // of the study
	Title   string        `json:"title"` // what is compared
	Dataset string        `json:"dataset"`
	Parts   int           `json:"parts"` // 1, or the parts of a rotation over classes
	Missing []lab.Missing `json:"missing"`
}

// KindName implements Result.
func (h Header) KindName() string { return h.Kind }

// MissingTable says below a table what is missing from it, nil if nothing is.
func MissingTable(list []lab.Missing) *table.Table {
	if len(list) == 0 {
		return nil
	}
	t := table.New("missing from the table:")
	for _, m := range list {
		t.Note("  %s", &m)
	}
	return t
}

// Measured is the accuracy on the classes that a stage evaluates, as fractions, over seeds.
type Measured struct {
	PerClass lab.Summary `json:"per_class_accuracy"` // mean over classes
	// over classes, whose accuracies are means over seeds
	Interval  metrics.Interval `json:"interval"`
	PerSample lab.Summary      `json:"per_sample_accuracy"` // mean over samples
	Classes   int              `json:"classes"`
	Parts     int              `json:"parts"`  // of the classes; predictions are among those of a part
	Status    []train.Status   `json:"status"` // why each seed ended

	ByClass []float64 `json:"-"` // means over seeds
}

// Chance is the expected accuracy of random predictions.
func (m Measured) Chance() float64 { return Chance(m.Parts, m.Classes) / 100 }

// MeanText returns the mean in percent, or a dash if each part has one class, among which any prediction is
// right.
func (m Measured) MeanText() string {
	if m.Classes <= m.Parts {
		return format.Missing
	}
	return m.PerClass.MeanText()
}

// Chance is the same in percent, for figures of results that older versions stored without classes: 0.
func Chance(parts, classes int) float64 {
	if classes == 0 {
		return 0
	}
	return 100 * float64(parts) / float64(classes)
}

// Measure summarises the scores of finished runs over seeds. The accuracy of a seed is that
// on all classes of its runs, which may be of several parts or folds. Runs without a result
// are left out, and seeds that lack one of the parts.
func Measure(runs []lab.Run) *Measured {
	classes, finished := map[string]int{}, map[uint64]int{} // of each part; results of each seed
	for _, r := range runs {
		n := 0
		if r.Evaluation != nil {
			n = len(r.Result.Classes)
			finished[r.Seed]++
		}
		classes[r.Fingerprint] = max(classes[r.Fingerprint], n)
	}
	runs = slices.DeleteFunc(slices.Clone(runs), func(r lab.Run) bool {
		return finished[r.Seed] < len(classes)
	})
	m := &Measured{}
	for _, n := range classes {
		if len(runs) > 0 {
			m.Parts, m.Classes = m.Parts+1, m.Classes+n
		}
	}
	for _, r := range runs {
		m.Status = append(m.Status, r.Result.Status)
	}
	var perClass, perSample, seedsOf []float64
	place := map[string]int{} // of a class in ByClass
	for _, seed := range lab.BySeed(runs) {
		var recalls, classes float64
		var right, samples int
		for _, r := range seed {
			tally := r.Evaluation.Confusion.Tally(len(r.Result.Classes))
			for z, recall := range tally.Recall() {
				class := r.Result.Classes[z]
				if tally.Samples[z] == 0 {
					continue
				}
				i, known := place[class]
				if !known {
					i = len(m.ByClass)
					place[class] = i
					m.ByClass, seedsOf = append(m.ByClass, 0), append(seedsOf, 0)
				}
				m.ByClass[i] += recall
				seedsOf[i]++
				recalls, classes = recalls+recall, classes+1
				right, samples = right+tally.Right[z], samples+tally.Samples[z]
			}
		}
		perClass = append(perClass, recalls/classes)
		perSample = append(perSample, float64(right)/float64(samples))
	}
	floats.Div(m.ByClass, seedsOf)
	m.PerClass, m.PerSample = lab.Summarise(perClass), lab.Summarise(perSample)
	m.Interval = metrics.ClassInterval(m.ByClass)
	return m
}

// Headline says how accurate a method is on unseen classes: the most accurate of several or, if there are
// some that it cannot be ranked against, one of these.
func (m Measured) Headline(method string, several bool, undecided []string) string {
	accuracy, unseen := m.MeanText(), format.Count(m.Classes, "unseen class")
	if n := len(undecided); n > 3 {
		undecided = []string{format.Count(n, "other method")}
	}
	if undecided != nil {
		return fmt.Sprintf("%s, %s on %s, cannot be ranked against %s", method, accuracy, unseen,
			format.List(undecided, "and"))
	}
	accuracy += inBrackets(m.Interval)
	if several {
		return fmt.Sprintf("%s has the highest accuracy on %s: %s", method, unseen, accuracy)
	}
	return fmt.Sprintf("%s, %s on %s", method, accuracy, unseen)
}

// Learning is the learning curve of the first seed, before the correction of its scores.
type Learning struct {
	Train  int         `json:"train_classes"`      // among which training samples are predicted
	Val    int         `json:"validation_classes"` // 0 without a dev stage
	Epochs train.Curve `json:"epochs"`             // the first, the chosen and the last
}

// NewLearning returns the learning curve of a run of an outcome, nil if it has one epoch.
func NewLearning(o *lab.Outcome, run lab.Run) (*Learning, error) {
	split := o.Folds[0].Data.Split
	l := &Learning{Train: len(split.Train), Val: len(split.Val)}
	if run.Stage == train.Test {
		l.Train, l.Val = len(split.Seen()), 0
	}
	curve, err := run.Curve()
	if err != nil || len(curve) < 2 {
		return nil, err
	}
	for i, e := range curve {
		if i == 0 || e.Epoch == o.Epochs || i == len(curve)-1 {
			l.Epochs = append(l.Epochs, e)
		}
	}
	return l, nil
}

// Table says in prose how the loss and the accuracy changed, and which number of epochs was chosen.
func (l *Learning) Table(chosen int) *table.Table {
	t := table.New("learning curve of the first seed")
	what := map[string]string{"W": ", W: attribute detectors", "V": ", V: groups of attributes"}
	for _, p := range l.Epochs[0].Phases {
		t.Title += what[p.Name]
	}
	training := " among " + format.Count(l.Train, "training class")
	validation := " among " + format.Count(l.Val, "validation class")
	for i, e := range l.Epochs {
		var losses []string
		for _, p := range e.Phases {
			losses = append(losses, fmt.Sprintf("%.2f (%s)", p.Loss, p.Name))
		}
		accuracy := format.Percent(e.TrainAccuracy) + training
		if e.ValAccuracy != nil {
			accuracy += ", " + format.Percent(*e.ValAccuracy) + validation
		}
		place := ""
		if e.Epoch == chosen && l.Val > 0 {
			place = ", chosen"
		} else if i > 0 {
			place = ", the last"
		}
		t.Note("  epoch %d%s: loss %s; accuracy %s", e.Epoch, place, strings.Join(losses, ", "), accuracy)
		training, validation = "", ""
	}
	return t
}

// InParts says, as the end of a sentence, what each class is in one of the parts of a rotation;
// nothing if there is one part.
func InParts(each string, parts int) string {
	if parts < 2 {
		return ""
	}
	return fmt.Sprintf(", each class %s in one of %d parts", each, parts)
}

// AccuracyAxis is the title of an axis of accuracy in figures.
const AccuracyAxis = "per-class accuracy (%)"

// SeedsText gives the range of numbers of seeds: "2 seeds", or "1 to 5 seeds".
func SeedsText(counts []int) string {
	least, most := slices.Min(counts), slices.Max(counts)
	if least < most {
		return fmt.Sprintf("%d to %d seeds", least, most)
	}
	return format.Count(most, "seed")
}

// Point draws a fraction in percent, at a number or in a row, with its interval over classes.
func Point(x, value float64, i metrics.Interval) plot.Point {
	return plot.Percent(x, value, i.Low, i.High)
}

// IntervalText says what error bars of accuracies and dashed lines are, for captions.
const IntervalText = "bars are 95 % intervals over classes, the thin dashed line is chance"

// Panel draws the accuracy that rows have in one stage, which names its classes.
func Panel(stage string, rows []Measured) plot.Panel {
	s := plot.Series{}
	for i, m := range rows {
		s.Points = append(s.Points, Point(float64(i), m.PerClass.Mean, m.Interval))
	}
	return plot.Panel{
		Title: stage + ",\n" + format.Count(rows[0].Classes, "class"), Chance: 100 * rows[0].Chance(),
		Series: []plot.Series{s},
	}
}

// Validation is the accuracy of an arm on the validation classes of all parts.
func Validation(done *lab.Outcomes, arm int) *Measured {
	var runs []lab.Run
	for _, o := range done.Arms[arm] {
		runs = append(runs, o.Val...)
	}
	return Measure(runs)
}
