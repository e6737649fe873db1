package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/comparison"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/robustness"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// notStored completes a section whose result cannot be shown.
func (f *folder) notStored(s Section, d *datasetRuns, err error, command ...string) Section {
	what := s.Title
	if !errors.Is(err, fs.ErrNotExist) {
		what += " (" + err.Error() + ")"
	}
	s.todo(what, f.command(d, command...))
	return s
}

// from names the stored file that a section shows, the newest of its kind.
func (f *folder) from(s *Section, d *datasetRuns, kind, path string) {
	s.Stored = path
	note := "From " + filepath.Base(path)
	// The prefix leaves out kinds that begin with this one.
	all, _ := lab.StoredSubjects(f.dir, kind+"-"+strings.ToLower(d.name)) // those that can be read
	all = slices.DeleteFunc(all, func(s lab.Subject) bool { return s != lab.Subject{Dataset: d.name, Fingerprint: d.fingerprint} })
	if len(all) > 1 {
		note += fmt.Sprintf(", the newest of %d", len(all))
	}
	s.Notes = append(s.Notes, note+".")
}

// comparisonSection compares LAGO with its baselines, as table 1 of the paper does.
func comparisonSection(f *folder, d *datasetRuns) Section {
	return f.compared(d, comparison.Kind, "compare", Section{
		Name: "comparison", Title: "LAGO and its baselines",
		Text: "Accuracy of every method by one protocol: settings and epochs are chosen on the seen classes, then the method is " +
			"trained on train and val classes and evaluated once on the test classes.",
	})
}

// rotationSection compares them over all classes.
func rotationSection(f *folder, d *datasetRuns) Section {
	return f.compared(d, comparison.RotationKind, "compare --rotate 5", Section{
		Name: "rotation", Title: "LAGO and its baselines, each class unseen once",
		Text: "The classes are divided into parts, and each part in turn holds the unseen classes; settings and epochs are chosen " +
			"on the others.",
	})
}

// compared shows a stored comparison.
func (f *folder) compared(d *datasetRuns, kind, command string, s Section) Section {
	c, path, err := comparison.Find(f.dir, kind, d.name, d.fingerprint)
	if err != nil {
		return f.notStored(s, d, err, command)
	}
	byMean := func(a, b tuning.Method) int { return cmp.Compare(b.Test.PerClass.Mean, a.Test.PerClass.Mean) }
	sorted := slices.SortedStableFunc(slices.Values(c.Methods), byMean)
	p := &plot.Dots{X: accuracyAxis, Series: []plot.DotSeries{{Name: "val", Condition: plot.Dashed}, {Name: "unseen"}}}
	s.Table = &Table{Header: []string{"method", "val (%)", "unseen (%)", "95 % over classes", "published (%)", "seconds to train", "seeds"}}
	for i, m := range sorted {
		p.Rows = append(p.Rows, methodRow(m))
		for j, stage := range []*protocol.Measured{m.Val, m.Test} {
			p.Series[j].Dots = append(p.Series[j].Dots, intervalDot(i, stage.PerClass.Mean, stage.Interval))
		}
		s.Table.Rows = append(s.Table.Rows, []string{
			m.Label(), plusMinus(m.Val.PerClass), plusMinus(m.Test.PerClass), m.Test.Interval.String(), cmp.Or(m.Published, absent),
			fmt.Sprintf("%.1f", m.Seconds), fmt.Sprint(len(m.Test.PerClass.Values)),
		})
	}
	s.Notes = c.PublishedNotes()
	if missing := len(c.Missing); missing > 0 {
		s.todo(format.Count(missing, "run")+" of the comparison", f.command(d, command))
	}
	f.from(&s, d, kind, path)
	var seeds []int
	for _, m := range c.Methods {
		seeds = append(seeds, len(m.Test.PerClass.Values))
	}
	test := c.Methods[0].Test
	p.Chance = 100 * test.Chance()
	caption := fmt.Sprintf("%s (chance %s %%), %s; bars are 95 %% bootstrap intervals over classes.",
		format.Count(test.Classes, "unseen class"), percent(test.Chance()), countSeeds(seeds))
	s.Figures = []Figure{f.figure(d, s.Name, s.Title, caption, p)}
	if len(c.Differences) == 0 {
		return s
	}
	reference := c.Method(c.Differences[0].Reference).Label()
	q := &plot.Dots{X: reference + " minus the method (% points)", Series: []plot.DotSeries{{Name: "difference"}}}
	byDifference := func(a, b comparison.Difference) int { return cmp.Compare(b.Mean, a.Mean) }
	for i, one := range slices.SortedStableFunc(slices.Values(c.Differences), byDifference) {
		q.Rows = append(q.Rows, methodRow(*c.Method(one.Method)))
		dot := intervalDot(i, one.Mean, one.Interval)
		dot.Text = fmt.Sprintf("%s, p %.2g", format.Points(one.Mean), one.Holm)
		q.Series[0].Dots = append(q.Series[0].Dots, dot)
	}
	s.Figures = append(s.Figures, f.figure(d, s.Name+"-differences", "Differences between "+reference+" and the baselines",
		fmt.Sprintf("%s; bars are 95 %% bootstrap intervals of the mean difference over classes; p by permutation of its signs, corrected by Holm.",
			format.Count(test.Classes, "unseen class")), q))
	return s
}

// methodRow emphasises LAGO.
func methodRow(m tuning.Method) plot.Row {
	return plot.Row{Name: m.Label(), Method: cmp.Or(m.Variant, m.Name), Emphatic: m.Variant != ""}
}

// robustnessOf is what noise and partial measured: accuracy by the distortion of descriptions.
type robustnessOf struct {
	command  string
	degrees  []float64
	named    string // the degrees, in the result
	methods  []robustness.Method
	relative bool // whether the figure shows relative accuracy

	title, axis, y, bars string
	start, column        string // of the table: given descriptions, and a degree in percent
}

// noiseSection shows accuracy with noisy descriptions, as figure A.1 of the paper does.
func noiseSection(f *folder, d *datasetRuns) Section {
	s := Section{
		Name: robustness.NoiseKind, Title: "Noisy descriptions",
		Text: "Test accuracy when entries of the class descriptions are replaced by 0 or 1 at random. The figure shows it relative " +
			"to the same model without noise.",
	}
	var n robustness.NoiseResult
	path, err := lab.FindStored(f.dir, s.Name, d.name, d.fingerprint, &n)
	return robustnessOf{
		command: "noise", degrees: n.Ratios, named: "ratios", methods: n.Methods, relative: true,
		title: "Accuracy with noisy descriptions", axis: "share of entries replaced by 0 or 1 (%)", y: "accuracy (% of that without noise)",
		bars:  format.Count(n.NoiseSeeds, "noise seed"),
		start: "without noise (%)", column: "%g %% noise (%%)",
	}.section(s, f, d, path, err)
}

// partialSection shows accuracy with part of each class's attributes, given at random.
func partialSection(f *folder, d *datasetRuns) Section {
	return f.partial(d, robustness.AtRandom, "partial", "attributes given at random", "random choice", "of attributes")
}

// strongestSection shows it with the strongest attributes of each class.
func strongestSection(f *folder, d *datasetRuns) Section {
	return f.partial(d, robustness.Strongest, "partial --given strongest", "strongest attributes first", "random order", "of equally strong attributes")
}

// partial shows a stored result of partial. bar and ofWhat name what its bars are over.
func (f *folder) partial(d *datasetRuns, given robustness.Order, command, how, bar, ofWhat string) Section {
	s := Section{
		Name: given.Kind(), Title: "Partial descriptions, " + how,
		Text: "Test accuracy when only part of each class's attributes is given. Missing entries are imputed from the given ones " +
			"of their group or, for methods marked \"inferred\", from all given ones.",
	}
	var p robustness.PartialResult
	path, err := lab.FindStored(f.dir, s.Name, d.name, d.fingerprint, &p)
	return robustnessOf{
		command: command, degrees: p.Shares, named: "shares", methods: p.Methods,
		title: "Accuracy with partial descriptions, " + how, axis: "share of attributes given (%)", y: accuracyAxis,
		bars:  format.Count(p.MaskSeeds, bar) + " " + ofWhat,
		start: "all given (%)", column: "%g %% given (%%)",
	}.section(s, f, d, path, err)
}

// section completes a section with figure and table, or says why there are none.
func (r robustnessOf) section(s Section, f *folder, d *datasetRuns, path string, err error) Section {
	if err = cmp.Or(err, r.check(path)); err != nil {
		return f.notStored(s, d, err, r.command, protocolFlags(d.choices()))
	}
	p := &plot.Lines{X: r.axis, Y: r.y, FromZero: true, DataTicks: true}
	s.Table = &Table{Header: []string{"method", r.start}}
	for _, degree := range r.degrees {
		s.Table.Header = append(s.Table.Header, fmt.Sprintf(r.column, math.Round(1000*degree)/10))
	}
	for _, m := range r.methods {
		name, _, found := strings.Cut(m.Method, ", ")
		look := plot.Look{Method: name}
		if found {
			look.Condition = plot.Dashed
		}
		plotted := m.Accuracy
		if r.relative {
			plotted = m.Relative
		}
		line := plot.Series{Name: m.Method, Look: look, Measured: true}
		row := []string{m.Method, plusMinus(m.Start)}
		for j, degree := range r.degrees {
			line.Points = append(line.Points, point(100*degree, plotted[j]))
			row = append(row, plusMinus(m.Accuracy[j]))
		}
		slices.SortStableFunc(line.Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
		p.Series = append(p.Series, line)
		s.Table.Rows = append(s.Table.Rows, row)
	}
	s.Figures = []Figure{f.figure(d, s.Name, r.title, r.caption(d, p), p)}
	s.Text += fmt.Sprintf(" ± is one standard error over %s; in the column %q, over training seeds.", r.bars, strings.TrimSuffix(r.start, " (%)"))
	f.from(&s, d, s.Name, path)
	return s
}

// caption says what the figure shows, and marks the chance level in it.
func (r robustnessOf) caption(d *datasetRuns, p *plot.Lines) string {
	bars := "bars are one standard error over " + r.bars + "."
	if len(d.test) == 0 {
		return "Test classes; " + bars
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, m := range r.methods {
		low, high = min(low, m.Start.Mean), max(high, m.Start.Mean)
	}
	chance := d.test[0].Chance()
	if !r.relative {
		chanceLine(p, chance)
		return d.test[0].classesOf() + "; " + bars
	}
	return fmt.Sprintf("%s; 100 %% is %s to %s %% accuracy; %s", d.test[0].classesOf(), percent(low), percent(high), bars)
}

// check returns an error if the result is incomplete.
func (r robustnessOf) check(path string) error {
	if len(r.methods) == 0 || len(r.degrees) == 0 {
		return &invalid.Error{Where: path, Want: "methods and " + r.named, Got: fmt.Sprintf("%d and %d", len(r.methods), len(r.degrees))}
	}
	for _, m := range r.methods {
		if len(m.Accuracy) != len(r.degrees) || len(m.Relative) != len(r.degrees) {
			return &invalid.Error{
				Where: path, Field: m.Method, Want: fmt.Sprintf("an accuracy and a relative_accuracy for each of the %d %s", len(r.degrees), r.named),
				Got: fmt.Sprintf("%d and %d", len(m.Accuracy), len(m.Relative)),
			}
		}
	}
	return nil
}
