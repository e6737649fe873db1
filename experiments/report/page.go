package report

import (
	"fmt"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
)

// Page is the report.
type Page struct {
	Dir     string
	Trials  int // that it shows
	Parts   []Part
	Missing []lab.Missing // trials that it does without
}

// Part is the report on one data set.
type Part struct {
	Title    string
	Sections []Section
}

// Section answers one question.
type Section struct {
	Name    string // in addresses, as in "ablation"
	Title   string
	Text    string // how it is to be read
	Figures []Figure
	Table   *Table
	Notes   []string // what is not shown, and why
	Command string   // makes what is not there; empty where nothing lacks
}

// Figure is one picture of the report.
type Figure struct {
	Name    string // of its file, without the ending
	Caption string
	Picture plot.Picture
}

// Width is that of the picture, in points.
func (f Figure) Width() float64 {
	width, _ := f.Picture.Size()
	return width.Points()
}

// Table is text in rows. The first column names the row.
type Table struct {
	Header []string
	Rows   [][]string
}

// NewPage makes the report of what a folder of trials holds.
func NewPage(r *Runs) *Page {
	p := &Page{Dir: r.Dir, Missing: r.Missing}
	for _, d := range r.Datasets {
		for _, c := range d.Configurations() {
			p.Trials += len(c.Trials)
		}
		part := Part{Title: r.title(d)}
		for _, section := range []func(*Runs, *Dataset) Section{
			variants, comparisonSection, curves, ablationSection, sweep, noise, partial, gamma, confusion, settings,
		} {
			part.Sections = append(part.Sections, section(r, d))
		}
		p.Parts = append(p.Parts, part)
	}
	return p
}

// Figures lists the pictures of all sections.
func (p *Page) Figures() []Figure {
	var list []Figure
	for _, part := range p.Parts {
		for _, s := range part.Sections {
			list = append(list, s.Figures...)
		}
	}
	return list
}

// command is a line for the shell that works on a data set in the folder of the
// report.
func (r *Runs) command(d *Dataset, words string) string {
	return fmt.Sprintf("lago-train %s --dataset %s --out %s", words, d.Name, r.Dir)
}

// figure names a picture of a data set.
func (r *Runs) figure(d *Dataset, name, caption string, p plot.Picture) Figure {
	file := strings.Map(func(c rune) rune {
		if strings.ContainsRune(`/\: ,`, c) {
			return '-'
		}
		return c
	}, r.title(d)+"-"+name)
	return Figure{Name: file, Caption: caption, Picture: p}
}

const accuracyAxis = "accuracy per class (%)"

// percent writes a fraction.
func percent(fraction float64) string { return fmt.Sprintf("%.1f", 100*fraction) }

// plusMinus writes a mean and its standard error in percent; the error of a single
// value is not known.
func plusMinus(s lab.Summary) string {
	if len(s.Values) < 2 {
		return percent(s.Mean)
	}
	return percent(s.Mean) + " ± " + percent(s.SEM)
}

// count is a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
