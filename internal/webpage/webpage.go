// Package webpage has the layout and style that the HTML pages of the program share:
// one file that opens anywhere without a network, in light and dark mode, on screens
// and on paper. The packages that use it define what the pages show.
package webpage

import (
	_ "embed"
	"html/template"
)

var (
	//go:embed layout.html
	layout string
	//go:embed style.css
	style string
)

// New returns the template of a page. text defines the templates "title" and "body";
// css is appended to the common style. Data are escaped as package html/template does.
// New panics if the template cannot be parsed.
func New(name, text, css string, funcs template.FuncMap) *template.Template {
	t := template.New(name).Funcs(funcs).Funcs(template.FuncMap{
		"style": func() template.CSS { return template.CSS(style + css) }, //nolint:gosec // of files of this program
	})
	return template.Must(template.Must(t.Parse(layout)).Parse(text))
}
