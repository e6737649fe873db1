package studies

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// RunKind is the first word of the names of stored results.
const RunKind = "run"

var methodEntry = Entry{"run", func() results.Study { return new(Method) }, []results.Kind{{
	Name: RunKind, Title: "Methods by the paper's protocol", Command: "run",
	Text: "Each result is that of one run command: the dev stage chooses the number of epochs by " +
		"the validation classes, and the test stage is evaluated once on the test classes.",
	New: func() results.Result { return new(MethodAccuracy) },
}}}

// MethodAccuracy is the accuracy of a method over its seeds.
type MethodAccuracy struct {
	Dataset string        `json:"dataset"`
	Method  string        `json:"method"` // a variant of LAGO or a baseline
	Stage   config.Stages `json:"stage"`  // dev, test or full
	Seeds   int           `json:"seeds"`
	// best of the average curve of the dev stage, otherwise the number of the test stage
	Epochs int               `json:"epochs"`
	Val    *results.Measured `json:"val"`  // null without a dev stage
	Test   *results.Measured `json:"test"` // null without a test stage
	// ESZSL with its defaults on the classes of the last stage, beside a variant of LAGO
	ESZSL *results.Measured `json:"eszsl,omitempty"`
	// accuracy of the method minus that of ESZSL, over these classes
	Difference *metrics.Difference `json:"difference,omitempty"`
	Learning   *results.Learning   `json:"learning,omitempty"` // none for a closed form

	Seconds float64  `json:"seconds"`     // training time of all runs
	RunDirs []string `json:"run_dirs"`    // folders of the runs
	Reused  int      `json:"reused_runs"` // runs that were finished before

	// settings of predict --adapt, in the models
	Adaptation  *model.Adaptation  `json:"adaptation,omitempty"`
	Calibration *model.Calibration `json:"calibration,omitempty"` // of the probabilities, in the models

	Config config.Config `json:"config"` // settings, in the form of --config
	// those that differ from source, in one line; empty if none do
	Settings string `json:"settings"`
	Source   string `json:"source"` // where the defaults come from
	// test accuracy that the authors published for these settings, mean over seeds
	Published      float64 `json:"published_accuracy,omitempty"`
	PublishedSeeds int     `json:"published_seeds,omitempty"` // number of its seeds

	Next    string `json:"-"` // the command that uses the models
	Explain string `json:"-"` // that which explains a prediction of LAGO, "" without unseen classes
	Sample  string `json:"-"` // that it explains, the first of the unseen classes
	Default bool   `json:"-"` // no flag or file named the method
}

// Method asks how accurate one method is.
type Method struct{ config.Preset }

func (q *Method) Settings(r *config.Request) setting.List {
	list := r.RunSettings()
	list[slices.Index(list.Keys(), "preset")].Short = true
	return list
}

func (q *Method) Single() {}

// Plan has the method with its stages.
func (q *Method) Plan(r *config.Request, l *lab.Lab) (lab.Plan, error) {
	q.Preset = r.Presets[0]
	plan := lab.Plan{Arms: []lab.Arm{lab.NewArm(q.Config)}, Stage: q.Stage}
	if q.Method.Variant() == "" {
		return plan, nil
	}
	if _, err := plan.Prepare(l); err != nil { // otherwise ESZSL alone is trained
		return plan, err
	}
	var given []string
	if !q.Correction.On() { // as LAGO then; otherwise ESZSL has its own
		given = []string{"correction"}
	}
	beside, err := q.WithCorrection(model.Correction{Kind: model.NoCorrection}).Baseline(eszsl, given)
	plan.Arms = append(plan.Arms, lab.NewArm(beside))
	return plan, err
}

// Summarise measures the stages, and chooses the settings of predict --adapt on the validation classes.
func (q *Method) Summarise(ctx context.Context, l *lab.Lab, done *lab.Outcomes) (results.Result, error) {
	p := q.Preset
	o := done.Arms[0][0]
	if len(o.Missing) > 0 {
		return nil, &o.Missing[0]
	}
	runs := slices.Concat(o.Val, o.Test)
	r := &MethodAccuracy{
		Dataset: p.DataName(), Method: p.Method.Label(), Stage: p.Stage, Seeds: p.Seeds, Epochs: o.Epochs,
		RunDirs: lab.Dirs(runs), Config: o.Chosen, Source: p.Source, Default: p.Origins["method"] == "",
	}
	for _, run := range runs {
		if r.Seconds += run.Result.Seconds; run.Reused {
			r.Reused++
		}
	}
	if last := runs[len(runs)-1]; last.Reused { // its file may have been damaged since, and is recommended
		if _, err := train.Load(lab.ModelFiles([]lab.Run{last})[0]); err != nil {
			return nil, err
		}
	}
	var err error
	if r.Learning, err = results.NewLearning(o, runs[0]); err != nil {
		return nil, err
	}
	if o.Val != nil {
		r.Val = results.Measure(o.Val)
	}
	if o.Test != nil {
		first := l.Data.SamplesOf(o.Part.Data.Split.Test)[0]
		if r.Sample = strconv.Itoa(first); l.Data.IDs != nil {
			r.Sample = l.Data.IDs[first]
		}
		r.Test = results.Measure(o.Test)
		expect := lab.Summarise(p.Expect)
		r.Published, r.PublishedSeeds = expect.Mean, len(p.Expect)
	}
	if beside := done.Arms[1:]; len(beside) > 0 && len(beside[0][0].Missing) == 0 {
		last := beside[0][0].Test
		if last == nil {
			last = beside[0][0].Val
		}
		r.ESZSL = results.Measure(last)
		_, _, m := r.last()
		d := metrics.PairedDifference(m.ByClass, r.ESZSL.ByClass)
		r.Difference = &d
	}
	start := p.Start(p.Method)
	before := start.Settings().Values()
	var settings []string
	for _, s := range p.Settings().Used().Without("dataset", "method", "stage", "seeds", "seed") {
		if s.Value() != before[s.Key] {
			settings = append(settings, s.Key+" "+format.Setting(s.Value()))
		}
	}
	r.Settings = strings.Join(settings, ", ")
	chosen, err := predictor.StoredDecision(lab.ModelFiles(runs))
	if err != nil {
		return nil, err
	}
	if chosen == nil && o.Val != nil {
		l.Step("choosing the settings of predict --adapt and the temperature of the probabilities on the " +
			"validation classes")
		if chosen, err = predictor.ChooseForOutcome(ctx, o); err != nil {
			return nil, err
		}
	}
	if chosen != nil {
		r.Adaptation, r.Calibration = chosen.Adaptation, chosen.Calibration
	}
	return r, nil
}

func (r *MethodAccuracy) KindName() string { return RunKind }

// Follow sets the commands to go on with: one evaluates a model or, without a test stage, searches settings;
// the other explains a prediction.
func (r *MethodAccuracy) Follow(latest, data string) {
	set := []string{"--dataset", r.Config.Dataset}
	command := func(set []string, words ...string) string {
		if words = append(words, set...); data != "" {
			words = append(words, "--data-dir", data)
		}
		return "lago-train " + format.ShellLine(words...)
	}
	if r.Test == nil {
		r.Next = command(set, "search", "--method", r.Method)
		return
	}
	if r.Test.Classes == 1 { // which evaluate and explain refuse
		r.Next = command(set, "predict", "--model", latest, "--candidates", "all")
		return
	}
	if !catalog.IsPath(r.Config.Dataset) { // of a path a model has the name alone
		set = nil
	}
	r.Next = command(set, "evaluate", "--model", latest)
	if r.Config.Method.Variant() != "" {
		r.Explain = command(set, "explain", "--model", latest, "--sample", r.Sample)
	}
}

func (r *MethodAccuracy) Tables() []*table.Table {
	epochs := format.Count(r.Epochs, "epoch") + " on train and validation classes"
	if r.Test == nil {
		epochs = fmt.Sprintf("the best average at epoch %d", r.Epochs)
	}
	t := table.New(fmt.Sprintf("%s on %s, stage %s: per-class accuracy of %s, %s", r.title(), r.Dataset,
		r.Stage, format.Count(r.Seeds, "seed"), epochs), "evaluated on", "classes", "accuracy",
		"95 % over classes", "s.e.m.", "chance").Right(3, 4, 5, 6)
	row := func(name string, m *results.Measured) {
		if m != nil {
			t.Row(name, m.Classes, m.MeanText(), m.Interval, m.PerClass.SEMText(), format.Percent(m.Chance()))
		}
	}
	row("validation", r.Val)
	row("test", r.Test)
	row(besideLAGO, r.ESZSL)
	switch {
	case r.Val != nil && r.Val.Parts > 1:
		t.Note("fewer than %d classes are validation classes: the number of epochs is chosen by %d parts "+
			"of the %d seen classes, each in turn", check.FewVal, r.Val.Parts, r.Val.Classes)
	case r.Val == nil && r.Stage != config.OnlyTest:
		t.Note("the number of epochs is fixed: with fewer than %d validation classes, it takes %d seen "+
			"classes to choose it by parts of them", check.FewVal, check.FewSeen)
	}
	if limit := r.Config.DevEpochs(); r.Val != nil && r.Epochs == limit &&
		slices.Contains(r.Val.Status, train.Epochs) {
		t.Note("the best epoch, %d, is the last one allowed, before patience ended the training: more "+
			"epochs may be better (--epochs)", limit)
	}
	if r.PublishedSeeds > 0 {
		t.Note("published with the authors' settings of this variant: %s test accuracy over %s",
			format.Percent(r.Published), format.Count(r.PublishedSeeds, "seed"))
	}
	reused := ""
	if r.Reused > 0 {
		reused = fmt.Sprintf(" (%d reused)", r.Reused)
	}
	t.Note("%s%s in %s, trained in %.1f s", format.Count(len(r.RunDirs), "run"), reused,
		filepath.Dir(r.RunDirs[len(r.RunDirs)-1]), r.Seconds)
	tables := []*table.Table{t, r.summary()}
	if r.Learning != nil && r.Next != "" { // a report has figures of all seeds
		tables = slices.Insert(tables, 1, r.Learning.Table(r.Epochs))
	}
	return tables
}

func lagoTitle(variant string) string {
	if variant == "" {
		return ""
	}
	return fmt.Sprintf("LAGO (%s)", variant)
}

func (r *MethodAccuracy) title() string {
	if m := r.Config.Method; m.Variant() == "" {
		return m.Entry().Title
	}
	return lagoTitle(r.Method)
}

const besideLAGO = "ESZSL (defaults)"

func (r *MethodAccuracy) summary() *table.Table {
	t := table.New("")
	if r.Next != "" {
		t.Note("%s", r.accuracyText())
	}
	if d := r.Difference; d != nil && !math.IsNaN(d.Interval.Low) {
		_, _, m := r.last()
		t.Note("%s", results.Ranking(*d, r.title(), besideLAGO, m.Classes))
	}
	switch a := r.Adaptation; {
	case a == nil:
	case a.Tau == 0:
		t.Note("predict --adapt: not recommended (no reliable gain on %s)",
			format.Count(a.Classes, "validation class"))
	default:
		t.Note("predict --adapt, with many unlabelled samples: %s points on the validation classes "+
			"(95 %%: %s)", format.Points(a.After-a.Before), *a.Interval)
	}
	if r.Default && r.Next != "" {
		with := "with"
		if !r.Config.Method.Variant().Semantic() {
			with = "without"
		}
		t.Note("method: %s, the default for data %s attribute groups; --method k-soft learns groups",
			r.Method, with)
	}
	settings := strings.TrimPrefix(r.Settings+"; otherwise "+r.Source, "; otherwise ")
	if r.Source != config.FromDefaults {
		settings += " (--preset paper); the general defaults are usually more accurate: --preset general"
	}
	t.Note("settings: %s", settings)
	if r.Explain != "" {
		t.Note("LAGO has reasons for each prediction, by attributes and their groups: %s", r.Explain)
	}
	if r.Next != "" {
		t.Note("next: %s", r.Next)
	}
	return t
}

func (r *MethodAccuracy) last() (stage, classes string, m *results.Measured) {
	if r.Test != nil {
		return "test", "unseen class", r.Test
	}
	return "validation", "validation class", r.Val
}

func (r *MethodAccuracy) accuracyText() string {
	stage, classes, m := r.last()
	if m.Classes <= m.Parts {
		return fmt.Sprintf("%s: no accuracy can be measured on 1 %s, as any prediction is right",
			stage, classes)
	}
	interval := ""
	if text := m.Interval.String(); text != format.Missing {
		interval = fmt.Sprintf("95 %%: %s; ", text)
	}
	return fmt.Sprintf("%s: %s on %s (%schance: %s)", stage, m.MeanText(), format.Count(m.Classes, classes),
		interval, format.Percent(m.Chance()))
}

// Headline is the accuracy on unseen classes, if they were evaluated, and the validation accuracy.
func (r *MethodAccuracy) Headline() (text string, validation float64) {
	if r.Val != nil {
		validation = r.Val.PerClass.Mean
	}
	if r.Test == nil || r.Test.Classes <= r.Test.Parts { // any prediction is right
		return "", validation
	}
	first, name, other, undecided := r.Test, r.title(), besideLAGO, []string(nil)
	if d := r.Difference; d != nil {
		if d.Mean < 0 {
			first, name, other = r.ESZSL, besideLAGO, r.title()
		}
		if results.Undecided(*d) {
			undecided = []string{other}
		}
	}
	return first.Headline(name, r.Difference != nil, undecided), validation
}

// Figures are the accuracy, and the learning curves of the dev stage. dir holds the runs.
func (r *MethodAccuracy) Figures(dir string) ([]plot.Figure, error) {
	var curves []train.Curve
	byStage := map[train.Stage][]lab.Run{}
	for _, d := range r.RunDirs {
		run, _ := lab.ReadRun(lab.Moved(dir, d)) // Missing has the error, too
		if run.Missing != nil {
			return nil, run.Missing
		}
		// another correction may have been decided since
		if run.Evaluation = run.Result.Evaluation(r.Config.Correction); run.Evaluation == nil {
			return nil, fmt.Errorf("%s: no evaluation with the correction of this result; repeat the command",
				run.Dir)
		}
		byStage[run.Stage] = append(byStage[run.Stage], run)
		if run.Stage == train.Dev {
			curve, err := run.Curve()
			if err != nil {
				return nil, err
			}
			curves = append(curves, curve)
		}
	}
	seeds := format.Count(r.Seeds, "seed")
	figures := []plot.Figure{{
		Name: "accuracy", Title: "Accuracy, " + r.title(), Picture: r.accuracy(byStage),
		Caption: fmt.Sprintf("Mean over %s; %s.", seeds, results.IntervalText),
	}}
	if r.Val != nil && len(curves) > 0 && len(curves[0]) > 1 { // a closed form has no curve
		figures = append(figures, plot.Figure{
			Name: "curve", Title: "Learning curves, " + r.title(), Picture: r.curves(curves),
			Caption: fmt.Sprintf("Mean over %s, shaded from the lowest to the highest, without the "+
				"correction of the scores. The mark, with the correction, is the validation accuracy at the "+
				"best epoch, with its 95 %% interval over classes. Chance is that on the validation classes.",
				seeds),
		})
	}
	return figures, nil
}

func (r *MethodAccuracy) accuracy(runs map[train.Stage][]lab.Run) *plot.Dots {
	p := &plot.Dots{X: results.AccuracyAxis, Percent: true, Rows: []plot.Row{{Name: r.title(), Focus: true}}}
	names := map[train.Stage]string{train.Dev: "validation", train.Test: "unseen"}
	for _, stage := range []train.Stage{train.Dev, train.Test} {
		if len(runs[stage]) == 0 {
			continue
		}
		m := results.Measure(runs[stage])
		panel, classes := results.Panel(names[stage], []results.Measured{*m}), plot.Series{
			Name: "one class", Condition: plot.Small,
		}
		for _, accuracy := range m.ByClass {
			classes.Points = append(classes.Points, plot.Percent(0, accuracy, accuracy, accuracy))
		}
		panel.Series = append(panel.Series, classes)
		p.Panels = append(p.Panels, panel)
	}
	return p
}

func (r *MethodAccuracy) curves(curves []train.Curve) *plot.Lines {
	best := float64(lab.BestEpoch(curves))
	training := averaged(curves, func(e train.Epoch) float64 { return e.TrainAccuracy })
	validation := averaged(curves, func(e train.Epoch) float64 { return *e.ValAccuracy })
	mark := results.Point(best, r.Val.PerClass.Mean, r.Val.Interval)
	chance, trained := 100*r.Val.Chance(), "training samples"
	if l := r.Learning; l != nil {
		trained += ", among " + format.Count(l.Train, "class")
	}
	validated := "validation samples, among " + format.Count(r.Val.Classes/r.Val.Parts, "class")
	return &plot.Lines{X: "epoch", Y: results.AccuracyAxis, Chance: chance, Series: []plot.Series{
		{Name: trained, Condition: plot.Dashed, Points: training},
		{Name: validated, Focus: true, Points: validation},
		{Name: "best epoch", Focus: true, Measured: true, Points: []plot.Point{mark}},
	}}
}

// averaged returns mean, lowest and highest of curves, in percent, over the epochs that all of them have.
func averaged(curves []train.Curve, value func(train.Epoch) float64) []plot.Point {
	shortest := slices.MinFunc(curves, func(a, b train.Curve) int { return len(a) - len(b) })
	points := make([]plot.Point, len(shortest))
	for e := range points {
		values := make([]float64, len(curves))
		for i, c := range curves {
			values[i] = 100 * value(c[e])
		}
		points[e] = plot.Point{
			X: float64(e + 1), Y: lab.Summarise(values).Mean, Low: slices.Min(values),
			High: slices.Max(values),
		}
	}
	return points
}
