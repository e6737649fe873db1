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

// New returns the template of a page. text defines the templates "title" and "body",
// which are given the data that the page is executed with, and css adds to the
// common style. Names are escaped where they stand, as package html/template does.
// It panics where the template can't be parsed.
func New(name, text, css string, funcs template.FuncMap) *template.Template {
	t := template.New(name).Funcs(funcs).Funcs(template.FuncMap{
		"style": func() template.CSS { return template.CSS(style + css) }, //nolint:gosec // of files of this program
	})
	return template.Must(template.Must(t.Parse(layout)).Parse(text))
}
