package explain

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"html/template"
	"image"
	"image/png"
	"regexp"

	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/internal/webpage"
)

// PictureSide is the largest side in pixels that a picture on the page needs.
const PictureSide = 320

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS string

	page = webpage.New("explain", pageHTML, styleCSS, template.FuncMap{"table": drawTable, "picture": pictureURL})
)

// Cells that the page draws: the bars of the text, numbers from 0 to 1, and indented names.
var (
	bars    = regexp.MustCompile(`<td> *(█*)│(█*) *</td>`)
	numbers = regexp.MustCompile(`<td class="number">(0\.\d+|1\.0+)</td>`)
	indents = regexp.MustCompile(`<td> +`)
)

// drawTable returns the table with its bars and numbers drawn. Screen readers hear the numbers
// alone.
func drawTable(t *table.Table) template.HTML {
	s := bars.ReplaceAllString(t.HTML(), `<td aria-hidden="true"><span class="halves"><span>$1</span><span>$2</span></span></td>`)
	s = numbers.ReplaceAllString(s, `<td class="bar"><span class="track" aria-hidden="true"><span style="width: calc(100% * $1)"></span></span> $1</td>`)
	return template.HTML(indents.ReplaceAllString(s, `<td class="in">`)) //nolint:gosec // the table is escaped
}

// pictureURL returns a picture as part of the page.
func pictureURL(m image.Image) (template.URL, error) {
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), err //nolint:gosec // encoded above
}
