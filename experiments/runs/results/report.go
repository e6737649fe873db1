package results

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train"
)

var (
	//go:embed report.html
	reportHTML string
	//go:embed report.css
	reportCSS string
	//go:embed report.js
	reportJS string

	reportPage = format.NewPage("report", reportHTML, reportCSS, reportJS, template.FuncMap{
		//nolint:gosec // escaped
		"table": func(t *table.Table) template.HTML { return template.HTML(t.HTML()) },
		"count": format.Count, "printable": format.Printable, "svg": inlineSVG,
	})
)

// Report is the report on a folder of runs.
type Report struct {
	Dir      string
	Datasets []*DatasetReport
	Summary  ReportSummary
}

// ReportSummary lists what a report shows.
type ReportSummary struct {
	Page    string        `json:"page"`
	Figures []string      `json:"figures"` // files
	Stored  []ShownResult `json:"stored"`  // the results that the page shows
	Missing []lab.Missing `json:"missing"` // runs without a model, and results that cannot be read
}

// ShownResult is a stored result.
type ShownResult struct {
	Kind    string `json:"kind"`
	Dataset string `json:"dataset"`
	File    string `json:"file"`
}

// DatasetReport is the report on one data set and its split.
type DatasetReport struct {
	Title    string
	Headline string       // the accuracy on unseen classes
	Lead     *plot.Figure // of the same result
	Sections []*ReportSection

	name, fingerprint string
	results           map[string][]storedResult // by kind, the newest first
}

// ReportSection answers one question.
type ReportSection struct {
	Kind
	Figures []plot.Figure
	Tables  []*table.Table
	Notes   []string
}

type storedResult struct {
	lab.Stored
	Result
}

// ReadReport reads the results of some kinds in a folder, in their order. Results that are damaged are listed
// as missing. The error is that of a folder that cannot be read or holds no results.
func ReadReport(ctx context.Context, dir string, kinds []Kind) (*Report, error) {
	runs, err := lab.ReadRuns(dir)
	if err != nil {
		return nil, err
	}
	stored, missing, err := lab.ReadStored(ctx, dir, "")
	if err != nil {
		return nil, err
	}
	p := &Report{Dir: dir, Summary: ReportSummary{
		Figures: []string{}, Stored: []ShownResult{}, Missing: append(missing, lab.MissingOf(runs)...),
	}}
	for _, s := range stored {
		if r, err := decode(s, kinds); err != nil {
			p.Summary.Missing = append(p.Summary.Missing, *lab.NewMissing(s.Path, lab.Broken, err))
		} else {
			d := p.dataset(s.Dataset, s.Fingerprint)
			d.results[s.Kind] = append(d.results[s.Kind], storedResult{s, r})
		}
	}
	if len(p.Datasets) == 0 && len(p.Summary.Missing) == 0 {
		return nil, &invalid.Error{
			Where: dir, Want: "stored results", Got: "none",
			Hint: "lago-train run --out " + format.ShellLine(dir) + " stores some.",
		}
	}
	for _, d := range p.Datasets {
		d.setTitle(p.Datasets)
		lead := d.lead(kinds)
		for _, k := range kinds {
			if len(d.results[k.Name]) > 0 {
				d.addSection(k, dir, lead)
			}
			for _, r := range d.results[k.Name] {
				p.Summary.Stored = append(p.Summary.Stored, ShownResult{r.Kind, d.Title, r.Path})
			}
		}
	}
	return p, nil
}

func decode(s lab.Stored, kinds []Kind) (Result, error) {
	for _, k := range kinds {
		if k.Name == s.Kind {
			r := k.New()
			return r, s.Decode(r)
		}
	}
	return nil, &invalid.Error{
		Where: s.Path, Field: "kind", Want: "the name of a study", Got: invalid.Quote(s.Kind),
	}
}

func (p *Report) dataset(name, fingerprint string) *DatasetReport {
	for _, d := range p.Datasets {
		if d.name == name && d.fingerprint == fingerprint {
			return d
		}
	}
	d := &DatasetReport{name: name, fingerprint: fingerprint, results: map[string][]storedResult{}}
	p.Datasets = append(p.Datasets, d)
	return d
}

func (d *DatasetReport) setTitle(all []*DatasetReport) {
	d.Title = d.name
	for _, other := range all {
		if other != d && other.name == d.name {
			d.Title = fmt.Sprintf("%s, fingerprint %.8s", d.name, d.fingerprint)
		}
	}
}

// lead sets the headline, and returns the result that it is of: of the last kind that has one, since
// comparisons follow single runs, the result with the highest validation accuracy, since the test classes
// choose nothing.
func (d *DatasetReport) lead(kinds []Kind) (best Result) {
	d.Headline = "Results on " + d.Title
	for _, k := range slices.Backward(kinds) {
		most := -1.0
		for _, r := range d.results[k.Name] {
			if h, ok := r.Result.(interface{ Headline() (string, float64) }); ok {
				if text, validation := h.Headline(); text != "" && validation > most {
					d.Headline, best, most = d.Title+": "+text, r.Result, validation
				}
			}
		}
		if best != nil {
			break
		}
	}
	return best
}

var inName = strings.NewReplacer("/", "-", `\`, "-", ":", "-", " ", "-", ",", "-")

// addSection shows the stored results of a question, the newest first. The first figure of lead goes to the
// top.
func (d *DatasetReport) addSection(k Kind, dir string, lead Result) {
	s := &ReportSection{Kind: k}
	for i, r := range d.results[k.Name] {
		suffix := ""
		if i > 0 {
			suffix = fmt.Sprintf("-%d", i+1)
		}
		figures, err := r.Figures(dir)
		if err != nil {
			s.Notes = append(s.Notes, "Figures of "+filepath.Base(r.Path)+": "+err.Error())
		}
		for _, f := range figures {
			f.Name = inName.Replace(format.Printable(d.Title + "-" + f.Name + suffix))
			if r.Result == lead && d.Lead == nil {
				d.Lead = &f
			} else {
				s.Figures = append(s.Figures, f)
			}
		}
		for _, t := range r.Tables() {
			if t != nil {
				s.Tables = append(s.Tables, t)
			}
		}
	}
	d.Sections = append(d.Sections, s)
}

// Figures lists the figures, with titles that name the data set.
func (p *Report) Figures() (list []plot.Figure) {
	add := func(d *DatasetReport, figures ...plot.Figure) {
		for _, f := range figures {
			f.Title, f.Caption = format.Printable(f.Title+", "+d.Title), format.Printable(f.Caption)
			list = append(list, f)
		}
	}
	for _, d := range p.Datasets {
		if d.Lead != nil {
			add(d, *d.Lead)
		}
		for _, s := range d.Sections {
			add(d, s.Figures...)
		}
	}
	return list
}

// Write writes the report as one HTML page that loads nothing else.
func (p *Report) Write(w io.Writer) error { return reportPage.Execute(w, p) }

func inlineSVG(f plot.Figure) (template.HTML, error) {
	svg, err := plot.ForPage(f)
	return template.HTML(svg), err //nolint:gosec // made by this program, with names escaped
}

// Tables say where the report is, and what is missing from it.
func (s *ReportSummary) Tables() []*table.Table {
	var kinds []string
	for _, r := range s.Stored {
		kinds = append(kinds, r.Kind)
	}
	slices.Sort(kinds)
	t := table.New(fmt.Sprintf("%s shows %s (%s)", s.Page, format.Count(len(s.Stored), "stored result"),
		cmp.Or(strings.Join(slices.Compact(kinds), ", "), "none")))
	for _, file := range s.Figures {
		t.Note("  %s", file)
	}
	if len(s.Missing) > 0 {
		t.Note("%d cannot be shown:", len(s.Missing))
	}
	for _, m := range s.Missing {
		t.Note("  %s", &m)
	}
	return []*table.Table{t}
}

// RunStatuses are those of runs, of finished ones first.
var RunStatuses = []train.Status{
	train.Patience, train.Epochs, train.Converged, train.NotFinite, train.Failed,
	train.Status(lab.Unfinished), train.Status(lab.Broken),
}

// RunList is the runs of a folder.
type RunList struct {
	Dir  string    `json:"dir"`
	Runs []RunLine `json:"runs"`
}

// RunLine is a run in one line.
type RunLine struct {
	Dir       string       `json:"dir"`
	Dataset   string       `json:"dataset"`
	Method    string       `json:"method"` // a variant of LAGO or a baseline
	Stage     train.Stage  `json:"stage"`
	Seed      uint64       `json:"seed"`
	Status    train.Status `json:"status"`             // as in result.json, unfinished or broken
	Error     string       `json:"error,omitempty"`    // why there is no model
	Epochs    int          `json:"epochs"`             // of an unfinished run, up to its checkpoint
	BestEpoch int          `json:"best_epoch"`         // 0 if there is no model
	Accuracy  *float64     `json:"per_class_accuracy"` // null if there is no model

	written time.Time // last
}

// RunFilter selects runs; an empty field selects all.
type RunFilter struct{ Method, Stage, Status string }

// List reads the selected runs in dir.
func (f RunFilter) List(dir string) (*RunList, error) {
	runs, err := lab.ReadRuns(dir)
	if err != nil {
		return nil, err
	}
	l := &RunList{Dir: dir, Runs: []RunLine{}}
	for _, r := range runs {
		line := runLine(r)
		if (f.Method == "" || f.Method == line.Method) &&
			(f.Stage == "" || f.Stage == string(line.Stage)) &&
			(f.Status == "" || f.Status == string(line.Status)) {
			l.Runs = append(l.Runs, line)
		}
	}
	return l, nil
}

func runLine(t lab.Run) RunLine {
	r := RunLine{Dir: t.Dir, Dataset: t.Dataset, Method: t.Method.Label(), Stage: t.Stage, Seed: t.Seed}
	if info, err := os.Stat(t.Dir); err == nil { // it may have been deleted since
		r.written = info.ModTime()
	}
	if m := t.Missing; m != nil {
		r.Status, r.Error, r.Epochs = train.Status(m.State), m.Why, m.Epoch
	}
	if t.Result != nil {
		r.Status, r.Epochs, r.BestEpoch = t.Result.Status, t.Result.Epochs, t.Result.BestEpoch
		if t.Evaluation != nil {
			r.Accuracy = &t.Evaluation.PerClass
		}
	}
	return r
}

// Tables has one row per run, the newest first, whose name has the data set, the variant, the stage and the
// seed.
func (l *RunList) Tables() []*table.Table {
	t := table.New(fmt.Sprintf("%s in %s", format.Count(len(l.Runs), "run"), l.Dir),
		"run", "status", "epochs", "accuracy").Right(4)
	newest := slices.SortedStableFunc(slices.Values(l.Runs), func(a, b RunLine) int {
		return b.written.Compare(a.written)
	})
	var reasons []string
	failed := map[string][]string{} // folders, by the reason
	for _, r := range newest {
		if r.Error != "" && r.Status != train.Status(lab.Unfinished) {
			if failed[r.Error] == nil {
				reasons = append(reasons, r.Error)
			}
			failed[r.Error] = append(failed[r.Error], r.Dir)
		}
		t.Row(filepath.Base(r.Dir), r.Status, r.Epochs, format.Percent(format.Value(r.Accuracy)))
	}
	for _, why := range reasons {
		name := failed[why][0]
		if others := len(failed[why]) - 1; others > 0 {
			name += " and " + format.Count(others, "other run")
		}
		t.Note("%s: %s", name, why)
	}
	return []*table.Table{t}
}
