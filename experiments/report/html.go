package report

import (
	_ "embed"
	"html/template"
	"io"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/webpage"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS string

	page = webpage.New("report", pageHTML, styleCSS, template.FuncMap{"count": count, "svg": inlineSVG})
)

// WriteHTML writes the report as one page that needs nothing beside it.
func (p *Page) WriteHTML(w io.Writer) error { return page.Execute(w, p) }

// inlineSVG draws a figure as an element of the page.
func inlineSVG(f Figure) (template.HTML, error) {
	var b strings.Builder
	if err := plot.WriteSVG(&b, f.Picture, f.Caption); err != nil {
		return "", err
	}
	_, element, _ := strings.Cut(b.String(), "<svg")
	return template.HTML(`<svg role="img"` + element), nil //nolint:gosec // made by this program, with names escaped
}

// WriteFigures writes each picture into a file of dir, as "svg" or "png", and
// returns the files.
func (p *Page) WriteFigures(dir string, format Format) ([]string, error) {
	var files []string
	for _, f := range p.Figures() {
		path := filepath.Join(dir, f.Name+"."+string(format))
		err := atomicfile.Write(path, func(w io.Writer) error {
			if format == PNG {
				return plot.WritePNG(w, f.Picture)
			}
			return plot.WriteSVG(w, f.Picture, f.Caption)
		})
		if err != nil {
			return files, err
		}
		files = append(files, path)
	}
	return files, nil
}
