package results

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

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
	Missing  []lab.Missing // runs without a model, and results that cannot be read
	Programs []string      // and machines that trained the runs

	kinds []Kind
}

// DatasetReport is the report on one data set and its split.
type DatasetReport struct {
	Title    string
	Headline string       // the accuracy on unseen classes
	Lead     *plot.Figure // of the same result
	Sections []*ReportSection
	Missing  []Unanswered // what no command stored

	name, fingerprint string
	results           map[string][]storedResult // by kind
}

// Unanswered is a question without a stored result, and the command that stores one.
type Unanswered struct{ What, Command string }

// ReportSection answers one question.
type ReportSection struct {
	Kind
	Figures []plot.Figure
	Tables  []*table.Table
	Notes   []string
}

// storedResult is a stored result that was read.
type storedResult struct {
	lab.Stored
	Result
}

// ReadReport reads the results of some kinds in a folder, in their order. Results that are damaged are listed as
// missing. The error is that of a folder that cannot be read or holds no results.
func ReadReport(ctx context.Context, dir string, kinds []Kind) (*Report, error) {
	runs, err := lab.ReadRuns(dir)
	if err != nil {
		return nil, err
	}
	stored, missing, err := lab.ReadStored(ctx, dir)
	if err != nil {
		return nil, err
	}
	p := &Report{
		Dir: dir, kinds: kinds, Missing: append(missing, lab.MissingOf(runs)...), Programs: programs(runs),
	}
	for _, s := range stored {
		if err := p.add(s); err != nil {
			p.Missing = append(p.Missing, *lab.NewMissing(s.Path, lab.Broken, err))
		}
	}
	if len(p.Datasets) == 0 && len(p.Missing) == 0 {
		return nil, &invalid.Error{
			Where: dir, Want: "stored results", Got: "none",
			Hint: "lago-train run --out " + format.ShellLine(dir) + " stores some.",
		}
	}
	for _, d := range p.Datasets {
		d.Title = d.title(p.Datasets)
		lead := d.lead(kinds)
		for _, k := range kinds {
			d.addSection(k, dir, lead)
		}
	}
	return p, nil
}

// add adds a stored result to the page of its data set.
func (p *Report) add(s lab.Stored) error {
	i := slices.IndexFunc(p.kinds, func(k Kind) bool { return k.Name == s.Kind })
	if i < 0 {
		return &invalid.Error{
			Where: s.Path, Field: "kind", Want: "the name of a study", Got: invalid.Quote(s.Kind),
		}
	}
	r := p.kinds[i].New()
	if err := s.Decode(r); err != nil {
		return err
	}
	j := slices.IndexFunc(p.Datasets, func(d *DatasetReport) bool {
		return d.name == s.Dataset && d.fingerprint == s.Fingerprint
	})
	if j < 0 {
		j = len(p.Datasets)
		p.Datasets = append(p.Datasets, &DatasetReport{
			name: s.Dataset, fingerprint: s.Fingerprint, results: map[string][]storedResult{},
		})
	}
	d := p.Datasets[j]
	d.results[s.Kind] = append(d.results[s.Kind], storedResult{s, r})
	return nil
}

// title names a data set, with its fingerprint if there is another of the same name, such as another split.
func (d *DatasetReport) title(all []*DatasetReport) string {
	for _, other := range all {
		if other != d && other.name == d.name {
			return fmt.Sprintf("%s, fingerprint %.8s", d.name, d.fingerprint)
		}
	}
	return d.name
}

// lead sets the headline, and returns the result that it is of: of the first kind that has one,
// the result with the highest validation accuracy, since the test classes choose nothing.
func (d *DatasetReport) lead(kinds []Kind) (best Result) {
	d.Headline = "Results on " + d.Title
	for _, k := range kinds {
		most := -1.0
		for _, r := range d.results[k.Name] {
			h, ok := r.Result.(interface{ Headline() (string, float64) })
			if !ok {
				continue
			}
			if text, validation := h.Headline(); text != "" && validation > most {
				d.Headline, best, most = d.Title+": "+text, r.Result, validation
			}
		}
		if best != nil {
			break
		}
	}
	return best
}

// programs describes the programs and machines that trained runs, with the number of runs.
func programs(runs []lab.Run) (list []string) {
	count := map[string]int{}
	for _, r := range runs {
		if record, err := train.ReadRecord(r.Dir); err == nil { // otherwise the run is listed as missing
			v := record.Versions
			count[fmt.Sprintf("lago-train %s, %s, %s, %s", cmp.Or(v["revision"], v["lago-train"]), v["go"],
				v["platform"], record.BLAS)]++
		}
	}
	for _, program := range slices.Sorted(maps.Keys(count)) {
		list = append(list, program+": "+format.Count(count[program], "run"))
	}
	return list
}

// inName replaces what names of files should not have.
var inName = strings.NewReplacer("/", "-", `\`, "-", ":", "-", " ", "-", ",", "-")

// addSection shows the stored results of a question, the newest first, or lists its command. The
// first figure of lead goes to the top.
func (d *DatasetReport) addSection(k Kind, dir string, lead Result) {
	list := d.results[k.Name]
	if len(list) == 0 {
		d.Missing = append(d.Missing, Unanswered{
			k.Title,
			fmt.Sprintf("lago-train %s --dataset %s --out %s", k.Command, format.ShellLine(d.name),
				format.ShellLine(dir)),
		})
		return
	}
	s := &ReportSection{Kind: k}
	for i, r := range list {
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
		s.Tables = append(s.Tables,
			slices.DeleteFunc(r.Tables(), func(t *table.Table) bool { return t == nil })...)
	}
	d.Sections = append(d.Sections, s)
}

// Figures lists the figures, with titles that name the data set.
func (p *Report) Figures() (list []plot.Figure) {
	for _, d := range p.Datasets {
		var of []plot.Figure
		if d.Lead != nil {
			of = append(of, *d.Lead)
		}
		for _, s := range d.Sections {
			of = append(of, s.Figures...)
		}
		for _, f := range of {
			f.Title, f.Caption = format.Printable(f.Title+", "+d.Title), format.Printable(f.Caption)
			list = append(list, f)
		}
	}
	return list
}

// Write writes the report as one HTML page that loads nothing else.
func (p *Report) Write(w io.Writer) error { return reportPage.Execute(w, p) }

// inlineSVG draws a figure as an element of the page.
func inlineSVG(f plot.Figure) (template.HTML, error) {
	svg, err := plot.ForPage(f)
	return template.HTML(svg), err //nolint:gosec // made by this program, with names escaped
}

// ReportSummary lists what a report shows.
type ReportSummary struct {
	Page    string        `json:"page"`
	Figures []string      `json:"figures"` // files
	Stored  []ShownResult `json:"stored"`  // the results that the page shows
	Missing []lab.Missing `json:"missing"`
}

// ShownResult is a stored result.
type ShownResult struct {
	Kind    string `json:"kind"`
	Dataset string `json:"dataset"`
	File    string `json:"file"`
}

// Summary lists the results of the report.
func (p *Report) Summary() *ReportSummary {
	s := &ReportSummary{Figures: []string{}, Stored: []ShownResult{}, Missing: p.Missing}
	for _, d := range p.Datasets {
		for _, k := range p.kinds {
			for _, r := range d.results[k.Name] {
				s.Stored = append(s.Stored, ShownResult{r.Kind, d.Title, r.Path})
			}
		}
	}
	return s
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
