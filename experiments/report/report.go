package report

import (
	_ "embed"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/webpage"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS string

	page = webpage.New("report", pageHTML, styleCSS, template.FuncMap{
		"count": format.Count, "printable": format.Printable, "svg": inlineSVG, "numbers": inlineCSV, "unbroken": unbroken,
	})
)

// Page is the report on a folder of runs.
type Page struct {
	Dir      string
	Runs     int // shown
	Datasets []DatasetPage
	Missing  []lab.Missing // runs that cannot be shown

	folder *folder
}

// DatasetPage is the report on one data set.
type DatasetPage struct {
	Title    string
	Summary  []Fact
	Sections []Section // that have something to show
	Missing  []Todo    // what has not been run yet
}

// Section answers one question.
type Section struct {
	Name    string // in addresses, as in "ablation"
	Title   string
	Text    string // how to read it
	Figures []Figure
	Table   *Table
	Notes   []string
	Stored  string // file of the result that is shown, if another command stored it
	Missing []Todo
}

// Todo is what a section lacks, and the command that runs it.
type Todo struct{ What, Command string }

func (s *Section) todo(what, command string) { s.Missing = append(s.Missing, Todo{what, command}) }

// empty reports whether a section has nothing to show.
func (s *Section) empty() bool { return len(s.Figures) == 0 && s.Table == nil && len(s.Notes) == 0 }

// Shown lists the figures that are supplements, or those that are not.
func (s Section) Shown(detail bool) []Figure {
	return slices.DeleteFunc(slices.Clone(s.Figures), func(f Figure) bool { return f.Detail != detail })
}

// Figure is one picture of the report.
type Figure struct {
	Name string // of its file, without the extension
	plot.Figure
	Detail bool // a supplement to another figure
}

// Width is the width of the picture in points.
func (f Figure) Width() float64 {
	width, _ := f.Picture.Size()
	return width.Points()
}

// Table is text in rows. The first column names the row.
type Table struct {
	Header []string
	Rows   [][]string
	Runs   [][]lab.Run // of each row, linked in the second column; nil for none
}

// Read reads the runs in a folder. Runs without a model, and runs with damaged files, are
// listed as missing. The error is that of a folder that cannot be read or holds no runs.
func Read(dir string) (*Page, error) {
	f, err := readFolder(dir)
	if err != nil {
		return nil, err
	}
	p := &Page{Dir: dir, Missing: f.missing, folder: f}
	for _, d := range f.datasets {
		for _, c := range d.configurations() {
			p.Runs += len(c.runs)
		}
		shown := DatasetPage{Title: f.title(d), Summary: d.summary()}
		sections := []func(*folder, *datasetRuns) Section{
			variantsSection, comparisonSection, rotationSection, curvesSection, ablationSection, ksweepSection, noiseSection, partialSection,
			strongestSection, groupsSection, confusionSection, configurationsSection, sharedSection,
		}
		if len(d.configurations()) == 0 {
			sections = []func(*folder, *datasetRuns) Section{comparisonSection, rotationSection, noiseSection, partialSection, strongestSection}
			shown.Missing = []Todo{{"variants of LAGO", f.command(d, "reproduce")}}
		}
		for _, section := range sections {
			shown.add(section(f, d))
		}
		p.Datasets = append(p.Datasets, shown)
	}
	return p, nil
}

// add adds a section, and what it lacks unless the same command is listed already.
func (p *DatasetPage) add(s Section) {
	if !s.empty() {
		p.Sections = append(p.Sections, s)
	}
	for _, m := range s.Missing {
		if !slices.ContainsFunc(p.Missing, func(other Todo) bool { return other.Command == m.Command }) {
			p.Missing = append(p.Missing, m)
		}
	}
}

// Figures lists the figures of all sections.
func (p *Page) Figures() []Figure {
	var list []Figure
	for _, d := range p.Datasets {
		for _, s := range d.Sections {
			list = append(list, s.Figures...)
		}
	}
	return list
}

// WriteFile writes the report as one HTML page that loads nothing else. It links the
// folders of the runs.
func (p *Page) WriteFile(path string) error {
	return atomicfile.Write(path, func(w io.Writer) error { return page.Execute(w, view{p, filepath.Dir(path)}) })
}

// view is a page in a folder.
type view struct {
	*Page
	base string
}

// Href returns the address of a folder relative to the page, if there is one.
func (v view) Href(dir string) (string, error) {
	from, err := filepath.Abs(v.base)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if relative, err := filepath.Rel(from, to); err == nil {
		to = relative
	}
	return (&url.URL{Path: filepath.ToSlash(to) + "/"}).String(), nil
}

// inlineSVG draws a figure as an element of the page.
func inlineSVG(f Figure) (template.HTML, error) {
	svg, err := plot.ForPage(f.Figure)
	return template.HTML(svg), err //nolint:gosec // made by this program, with names escaped
}

// inlineCSV returns the numbers of a figure as an address that holds them.
func inlineCSV(f Figure) (template.URL, error) {
	var b strings.Builder
	err := csv.NewWriter(&b).WriteAll(f.Picture.Numbers())
	return template.URL("data:text/csv;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(b.String()))), err //nolint:gosec // encoded
}

// unbroken keeps the percent sign with its number.
func unbroken(text string) string {
	return strings.ReplaceAll(format.Printable(text), " %", "\u00a0%")
}

// Format is the format of figure files.
type Format string

// The formats.
const (
	SVG Format = "svg"
	PDF Format = "pdf"
	PNG Format = "png"
	CSV Format = "csv" // its numbers
)

// WriteFigures writes each figure into a file of dir, which must exist, and returns the
// paths.
func (p *Page) WriteFigures(dir string, format Format) ([]string, error) {
	var files []string
	for _, f := range p.Figures() {
		path := filepath.Join(dir, f.Name+"."+string(format))
		if err := plot.WriteFile(path, f.Figure); err != nil {
			return files, err
		}
		files = append(files, path)
	}
	return files, nil
}

// figure names a figure of a data set, which its title ends in.
func (f *folder) figure(d *datasetRuns, name, title, caption string, p plot.Picture) Figure {
	file := strings.Map(func(c rune) rune {
		if strings.ContainsRune(`/\: ,`, c) {
			return '-'
		}
		return c
	}, format.Printable(f.title(d)+"-"+name))
	return Figure{Name: file, Figure: plot.Figure{
		Title: format.Printable(title + ", " + f.title(d)), Caption: format.Printable(caption), Picture: p,
	}}
}

const accuracyAxis = "per-class accuracy (%)"

// absent stands in a table for what was not run.
const absent = "–"

// percent returns a fraction in percent, for columns whose header has the unit.
func percent(fraction float64) string { return strings.TrimSuffix(format.Percent(fraction), " %") }

// plusMinus returns a mean and its standard error in percent; that of a single value is
// not known.
func plusMinus(s lab.Summary) string {
	if len(s.Values) < 2 {
		return percent(s.Mean)
	}
	return percent(s.Mean) + " ± " + percent(s.Margin())
}

// intervalDot draws a fraction in percent, with its interval over classes.
func intervalDot(row int, value float64, i metrics.Interval) plot.Dot {
	d := plot.Dot{Row: row, Value: 100 * value, Text: percent(value)}
	if !math.IsNaN(i.Low) { // as of a single class
		d.Below, d.Above = 100*(value-i.Low), 100*(i.High-value)
	}
	return d
}

// point draws a summary in percent, with its standard error.
func point(x float64, s lab.Summary) plot.Point {
	return plot.Point{X: x, Y: 100 * s.Mean, Low: 100 * (s.Mean - s.Margin()), High: 100 * (s.Mean + s.Margin())}
}

// chanceLine draws the accuracy of random predictions, a fraction, over the range of p.
func chanceLine(p *plot.Lines, chance float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range p.Series {
		for _, q := range s.Points {
			low, high = min(low, q.X), max(high, q.X)
		}
	}
	high = max(high, low+1) // as far as an axis with one point reaches
	y := 100 * chance
	p.Series = append(p.Series, plot.Series{
		Name: "chance", Look: plot.Look{Condition: plot.Dotted}, Points: []plot.Point{{X: low, Y: y, Low: y, High: y}, {X: high, Y: y, Low: y, High: y}},
	})
}

// seedsOf counts the seeds of each of the configurations that were run: "2 seeds", or "1
// to 5 seeds".
func seedsOf(list []*configuration) string {
	var counts []int
	for _, c := range list {
		if c != nil {
			counts = append(counts, c.seeds())
		}
	}
	return countSeeds(counts)
}

// countSeeds gives the range of numbers of seeds.
func countSeeds(counts []int) string {
	least, most := slices.Min(counts), slices.Max(counts)
	if least < most {
		return fmt.Sprintf("%d to %d seeds", least, most)
	}
	return format.Count(most, "seed")
}

// classesOf describes the classes that a stage evaluates, with the chance level.
func (c *configuration) classesOf() string {
	stage := "val"
	if c.trial().Stage == train.Test {
		stage = "test"
	}
	return fmt.Sprintf("%s (chance %s %%)", format.Count(c.Classes, stage+" class"), percent(c.Chance()))
}

// Summary lists what a report shows.
type Summary struct {
	Page           string          `json:"page"`
	Figures        []string        `json:"figures"` // files
	Configurations []Configuration `json:"configurations"`
	Stored         []string        `json:"stored"` // files of compare, noise and partial
	Missing        []lab.Missing   `json:"missing"`
}

// Configuration is the per-class accuracy, as fractions, of runs that differ in their seed
// only.
type Configuration struct {
	Dataset  string      `json:"dataset"`
	Stage    string      `json:"stage"`
	Label    string      `json:"configuration"`
	Accuracy lab.Summary `json:"accuracy"`
	RunDirs  []string    `json:"run_dirs"`
}

// Summary lists the configurations of the report.
func (p *Page) Summary() *Summary {
	s := &Summary{Figures: []string{}, Configurations: []Configuration{}, Stored: []string{}, Missing: p.Missing}
	for _, d := range p.Datasets {
		for _, section := range d.Sections {
			if section.Stored != "" {
				s.Stored = append(s.Stored, section.Stored)
			}
		}
	}
	for _, d := range p.folder.datasets {
		for _, c := range d.configurations() {
			scored := Configuration{Dataset: p.folder.title(d), Stage: string(c.trial().Stage), Label: c.label, Accuracy: c.PerClass}
			for _, r := range c.runs {
				scored.RunDirs = append(scored.RunDirs, r.Dir)
			}
			s.Configurations = append(s.Configurations, scored)
		}
	}
	return s
}

// WriteText writes where the report is, and what is missing from it.
func (s *Summary) WriteText(w io.Writer) error {
	var b strings.Builder
	runs := 0
	for _, c := range s.Configurations {
		runs += len(c.RunDirs)
	}
	fmt.Fprintf(&b, "%s shows %s of %s", s.Page, format.Count(runs, "run"), format.Count(len(s.Configurations), "configuration"))
	if len(s.Stored) > 0 {
		fmt.Fprintf(&b, " and %s", format.Count(len(s.Stored), "stored result"))
	}
	fmt.Fprintln(&b)
	for _, file := range s.Figures {
		fmt.Fprintf(&b, "  %s\n", file)
	}
	if len(s.Missing) > 0 {
		fmt.Fprintf(&b, "%s missing:\n", format.Count(len(s.Missing), "run"))
	}
	for _, m := range s.Missing {
		fmt.Fprintf(&b, "  %s: %s\n", m.Dir, format.Printable(m.Why))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
