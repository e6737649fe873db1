package studies

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Comparison says which methods are compared, and by what protocol. Plan sets LAGO to RotateSeed.
type Comparison struct {
	Methods []string        // LAGO, its variants and baselines
	LAGO    []config.Config // of the variants among Methods
	// Common has the seeds, epochs of the dev stage, patience, held-out samples and, for
	// baselines, the preprocessing from which their search starts.
	Common     config.Config
	Folds      int      // of the seen classes, over which settings are chosen
	Given      []string // keys of settings that no search varies
	RotateSeed uint64   `json:",omitempty"`

	Budget int    // different settings of each method to try; 0 and 1 take those it starts from
	file   string // with the accuracy on each class
}

func (c *Comparison) Settings(r *config.Request) setting.List {
	r.Methods = &c.Methods
	all := append([]string{methods.LAGO}, methods.Labels()...)
	return slices.Concat(r.SearchSettings(
		"method", "lr", "lr_v", "bias_factor", "batch", "beta", "lambda", "alpha", "psi", "zeta", "k",
		"prior", "complement", "freeze_prior", "omega", "ridge", "config",
	), r.RotationSettings(), setting.List{
		setting.Seed("rotate_seed", &r.RotateSeed).In(setting.Data).Needs("rotate"),
		r.FolderSetting(),
		setting.Choices("methods", &c.Methods, methods.Names(), all...).In(setting.Methods).Common().
			Noted("lago and all baselines"),
		setting.Whole("tune", &c.Budget, 16, setting.Between(0, config.MaxBudget)).In(setting.Searching).
			Common(),
		setting.Raw("csv", &c.file, "").In(setting.Output).Common(),
	})
}

func (c *Comparison) Check(r *config.Request) (err error) {
	if r.Folder != "" && c.Budget != 0 {
		return &invalid.Error{
			Field: "configs", Want: "--tune 0 beside it: a search of every method starts from the defaults",
		}
	}
	c.Folds, err = r.FoldsFor(r.Presets[0])
	return err
}

// Files are the accuracy on each class.
func (c *Comparison) Files(found results.Result) []results.File {
	r, _ := found.(*ComparedMethods)
	return []results.File{{Flag: "csv", Path: c.file, Begins: "class,part,samples", Write: r.WriteCSV}}
}

// Plan has an arm for each method.
func (c *Comparison) Plan(r *config.Request, _ *lab.Lab) (lab.Plan, error) {
	c.Common, c.LAGO, c.Given, c.RotateSeed = r.Presets[0].Config, r.Configs(), r.Keys(), r.RotateSeed
	p := lab.Plan{Stage: config.DevThenTest, Folds: max(c.Folds, 1)}
	for _, name := range c.Methods {
		arm, err := c.arm(name)
		if err != nil {
			return p, err
		}
		arm.Tune, arm.Fixed = c.Budget, c.Given
		p.Arms = append(p.Arms, arm)
	}
	return p, nil
}

func (c *Comparison) arm(name string) (lab.Arm, error) {
	if name == methods.LAGO {
		starts := slices.DeleteFunc(slices.Clone(c.LAGO), func(c config.Config) bool {
			return !c.Method.Variant().Info().Paper
		})
		return lab.Arm{Name: name, Title: config.PublishedResult, Starts: starts}, nil
	}
	for _, v := range c.LAGO {
		if name == v.Method.Label() {
			return lab.NewArm(v), nil
		}
	}
	baseline, err := c.Common.Baseline(name, c.Given)
	return lab.NewArm(baseline), err
}

// ComparedMethods is table 1 of the paper on one data set: every method by one protocol.
type ComparedMethods struct {
	results.MethodTable
	// whether training left out the held-out samples of seen classes
	HoldOut bool            `json:"hold_out"`
	Classes []ClassAccuracy `json:"classes"`
	// LAGO minus every baseline, or minus its other rows if there is none; without LAGO the first method
	// minus the others
	Differences []MethodDifference `json:"differences"`
	// seen and unseen classes together, with compare --hold-out, in a rotation or with --folds 1
	Generalised *Generalised `json:"generalised,omitempty"`
}

// ClassAccuracy is the test accuracy of each method on one class, in the order of Methods.
type ClassAccuracy struct {
	Class    string    `json:"class"`
	Part     int       `json:"part"` // in which it is unseen, from 1
	Samples  int       `json:"samples"`
	Accuracy []float64 `json:"accuracy"` // of each method, mean over seeds
}

var comparisonEntry = Entry{"compare", func() results.Study { return new(Comparison) }, []results.Kind{{
	Name: "compare", Title: "LAGO and its baselines", Command: "compare",
	Text: "Accuracy of every method by one protocol: settings and epochs are chosen on the seen classes, " +
		"then the method is trained on train and validation classes and evaluated once on the test classes.",
	New: func() results.Result { return new(ComparedMethods) },
}, {
	Name: "rotation", Title: "LAGO and its baselines, each class unseen once", Command: "compare --rotate 5",
	Text: "The classes are divided into parts, and each part in turn holds the unseen classes; " +
		"settings and epochs are chosen on the others.",
	New: func() results.Result { return new(ComparedMethods) },
}}}

// Summarise compares the methods.
func (c *Comparison) Summarise(ctx context.Context, l *lab.Lab, done *lab.Outcomes) (results.Result, error) {
	kind := map[bool]string{true: "rotation", false: "compare"}[len(l.Parts) > 1]
	r := &ComparedMethods{
		MethodTable: results.NewMethodTable(l, kind, "LAGO and its baselines", done),
		HoldOut:     c.Common.HoldOut, Classes: []ClassAccuracy{},
	}
	r.setClasses(l)
	r.Differences = r.differences(func(x, y int) metrics.Difference { // of others Missing says why
		return metrics.PairedDifference(r.Methods[x].Test.ByClass, r.Methods[y].Test.ByClass)
	})
	for i, pair := range r.pairs() {
		r.Differences[i].By = r.byPart(pair[0], pair[1])
	}
	if c.Common.HoldOut && done.Plan.Folds == 1 && len(r.Methods) > 0 {
		return r, r.generalise(ctx, l)
	}
	return r, nil
}

func (r *ComparedMethods) setClasses(l *lab.Lab) {
	for i, part := range l.Parts {
		samples := part.Data.SamplesPerClass()
		for _, z := range part.Data.Split.Test {
			if samples[z] == 0 {
				continue
			}
			c := ClassAccuracy{l.Data.Classes[z], i + 1, samples[z], make([]float64, len(r.Methods))}
			for j, m := range r.Methods {
				c.Accuracy[j] = m.Test.ByClass[len(r.Classes)]
			}
			r.Classes = append(r.Classes, c)
		}
	}
}

// Headline is the most accurate method on unseen classes, and its validation accuracy.
func (r *ComparedMethods) Headline() (text string, validation float64) {
	if len(r.Methods) == 0 || r.Methods[0].Test.MeanText() == format.Missing {
		return "", 0
	}
	accuracies := func(method string) []float64 {
		list := make([]float64, len(r.Classes))
		for i, c := range r.Classes {
			list[i] = c.Accuracy[r.find(method)]
		}
		return list
	}
	named := func(m results.Method) string { return cmp.Or(lagoTitle(m.Variant), m.Title) }
	list := r.Sorted()
	first, others := list[0], slices.DeleteFunc(slices.Clone(list), func(m results.Method) bool {
		return m.Name == list[0].Name || m.RunDirs != nil && slices.Equal(m.RunDirs, list[0].RunDirs)
	})
	var differences []*metrics.Difference
	for _, m := range others {
		d := metrics.PairedDifference(accuracies(first.Name), accuracies(m.Name))
		differences = append(differences, &d)
	}
	metrics.Adjust(differences)
	var undecided []string
	for i, d := range differences {
		if results.Undecided(*d) {
			undecided = append(undecided, named(others[i]))
		}
	}
	return first.Test.Headline(named(first), len(others) > 0, undecided), first.Val.PerClass.Mean
}

func (r *ComparedMethods) find(name string) int {
	return slices.IndexFunc(r.Methods, func(m results.Method) bool { return m.Name == name })
}

// WriteCSV writes one line per class: its name, part and number of samples, and the accuracy
// of each method as a fraction.
func (r *ComparedMethods) WriteCSV(w io.Writer) error {
	t := table.New("", "class", "part", "samples")
	for _, m := range r.Methods {
		t.Header = append(t.Header, m.Name)
	}
	for _, class := range r.Classes {
		row := []any{class.Class, class.Part, class.Samples}
		for _, a := range class.Accuracy {
			row = append(row, a)
		}
		t.Row(row...)
	}
	return t.WriteCSV(w)
}

// MethodDifference is the test accuracy of the reference method minus that of another one.
type MethodDifference struct {
	Reference string `json:"reference"` // from whose accuracy that of method is subtracted
	Method    string `json:"method"`
	metrics.Difference
	Holm float64   `json:"p_holm"`       // p, corrected by Holm for the number of differences
	By   []float64 `json:"by,omitempty"` // the mean difference in each part
}

// pairs lists which methods are compared: the row of LAGO with the highest validation accuracy, or
// the first row if LAGO is in none, with all baselines, or with all others if there is none.
func (r *ComparedMethods) pairs() (list [][2]int) {
	if len(r.Methods) == 0 {
		return nil
	}
	reference, baselines := 0, false
	for i, m := range r.Methods {
		best := r.Methods[reference]
		if m.Variant != "" && (best.Variant == "" || m.Val.PerClass.Mean > best.Val.PerClass.Mean) {
			reference = i
		}
		baselines = baselines || m.Variant == ""
	}
	best := r.Methods[reference]
	for i, m := range r.Methods {
		// The row of LAGO has the runs of one of its variants, unless the parts chose different ones.
		if !slices.Equal(m.RunDirs, best.RunDirs) && !(baselines && best.Variant != "" && m.Variant != "") {
			list = append(list, [2]int{reference, i})
		}
	}
	return list
}

func (r *ComparedMethods) differences(minus func(x, y int) metrics.Difference) []MethodDifference {
	list, p := []MethodDifference{}, []float64(nil)
	for _, pair := range r.pairs() {
		d := MethodDifference{
			Reference: r.Methods[pair[0]].Name, Method: r.Methods[pair[1]].Name,
			Difference: minus(pair[0], pair[1]),
		}
		list, p = append(list, d), append(p, d.P)
	}
	for i, corrected := range metrics.Holm(p) {
		list[i].Holm = corrected
	}
	return list
}

func (r *ComparedMethods) byPart(x, y int) []float64 {
	list, classes := make([]float64, r.Parts), make([]float64, r.Parts)
	for _, c := range r.Classes {
		list[c.Part-1] += c.Accuracy[x] - c.Accuracy[y]
		classes[c.Part-1]++
	}
	floats.Div(list, classes)
	return list
}

func (r *ComparedMethods) label(name string) string { return r.Methods[r.find(name)].Label() }

// Tables are the methods, the differences, and the chosen settings.
func (r *ComparedMethods) Tables() []*table.Table {
	list := r.MethodTable.Tables()
	if slices.ContainsFunc(r.Methods, func(m results.Method) bool { return m.Published != "" }) {
		held := map[bool]string{true: "without them", false: "with them"}[r.HoldOut]
		list[0].Note("published: table A.1 of the paper, on the data set's own test classes.")
		list[0].Note("Its baselines were trained without the held-out samples of seen classes " +
			"(trainval_loc), its LAGO with them.")
		list[0].Note("Here every method is trained %s.", held)
	}
	if r.HoldOut && r.Generalised == nil && len(r.Methods) > 0 {
		list[0].Note("seen and unseen classes together are not compared: gamma and omega are chosen with "+
			"--folds 1 or --rotate, on validation classes or parts of at least %d seen classes, of which "+
			"samples are held out", check.FewSeen)
	}
	over := "over " + format.Count(len(r.Classes), "class")
	return slices.Insert(list, 1, append(r.generalisedTables(), r.differencesTable(over, r.Differences))...)
}

// differencesTable has differences, of what the title says, and what may be concluded from them; nil if
// there are none.
func (r *ComparedMethods) differencesTable(of string, differences []MethodDifference) *table.Table {
	if len(differences) == 0 {
		return nil
	}
	reference := r.label(differences[0].Reference)
	list := slices.SortedStableFunc(slices.Values(differences), func(a, b MethodDifference) int {
		return cmp.Compare(a.Mean, b.Mean)
	})
	title := fmt.Sprintf("%s minus each method, %s:", reference, of)
	t := table.New(title, "method", "points (95 %)", "p (Holm)", "by part").Right(2, 3)
	var verdicts [3][]string
	for _, d := range list {
		name := r.label(d.Method)
		byPart := format.Missing
		if len(d.By) > 1 {
			byPart = ""
			for _, part := range d.By {
				byPart += " " + format.Points(part)
			}
		}
		t.Row(name, results.DifferenceText(d.Difference), fmt.Sprintf("%.2g", d.Holm),
			strings.TrimSpace(byPart))
		verdict := 0
		if d.Holm >= metrics.Significance {
			verdict = 2
		} else if d.Mean < 0 {
			verdict = 1
		}
		verdicts[verdict] = append(verdicts[verdict], name)
	}
	for i, text := range []string{
		"is more accurate than", "is less accurate than",
		fmt.Sprintf("cannot be ranked (p by Holm at least %g) against", metrics.Significance),
	} {
		if names := verdicts[i]; names != nil {
			t.Note("%s %s: %s", reference, text, strings.Join(names, ", "))
		}
	}
	return t
}

// Figures are the accuracy of all methods, and the differences from LAGO.
func (r *ComparedMethods) Figures(string) ([]plot.Figure, error) {
	figures := r.Draw(func(m results.Method) bool { return m.Variant != "" })
	if len(r.Differences) == 0 {
		return figures, nil
	}
	reference := r.label(r.Differences[0].Reference)
	p, s := &plot.Dots{X: reference + " minus the method (points)"}, plot.Series{}
	byDifference := func(a, b MethodDifference) int { return cmp.Compare(b.Mean, a.Mean) }
	for i, d := range slices.SortedStableFunc(slices.Values(r.Differences), byDifference) {
		p.Rows = append(p.Rows, plot.Row{Name: r.label(d.Method), Focus: d.Holm < metrics.Significance})
		s.Points = append(s.Points, results.Point(float64(i), d.Mean, d.Interval))
	}
	p.Panels = []plot.Panel{{Series: []plot.Series{s}}}
	return append(figures, plot.Figure{
		Name: r.Kind + "-differences", Title: "Differences between " + reference + " and the other methods",
		Picture: p,
		Caption: fmt.Sprintf("Difference of accuracies in percentage points, %s; bars are 95 %% bootstrap "+
			"intervals over classes. Differences in colour are significant (p by Holm below %g).",
			format.Count(len(r.Classes), "unseen class"), metrics.Significance),
	}), nil
}
