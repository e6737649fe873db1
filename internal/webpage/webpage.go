// Package webpage has the layout and style that the HTML pages of the program share:
// one file that opens anywhere without a network, in light and dark mode, on screens
// and on paper. The packages that use it define what the pages show.
package webpage

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"image"
	"image/jpeg"
)

var (
	//go:embed layout.html
	layout string
	//go:embed style.css
	style string
)

// New returns the template of a page. text defines the templates "title" and "body";
// css is appended to the common style. The page runs js and no other script, "" for none. Data
// are escaped as package html/template does. New panics if the template cannot be parsed.
func New(name, text, css, js string, funcs template.FuncMap) *template.Template {
	digest := sha256.Sum256([]byte(js))
	t := template.New(name).Funcs(funcs).Funcs(template.FuncMap{
		//nolint:gosec // of files of this program
		"style": func() template.CSS { return template.CSS(style + css) },
		//nolint:gosec // of files of this program
		"script": func() template.JS { return template.JS(js) },
		"kind":   func() string { return name },
		"digest": func() string { return base64.StdEncoding.EncodeToString(digest[:]) },
	})
	return template.Must(template.Must(t.Parse(layout)).Parse(text))
}

// Picture returns the address of a picture that is part of the page.
func Picture(m image.Image) (template.URL, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 80})
	//nolint:gosec // encoded above
	return template.URL("data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), err
}
