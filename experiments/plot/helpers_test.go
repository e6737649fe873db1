package plot

import (
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func figureOf(p Picture) Figure {
	return Figure{Title: "a title", Caption: "birds, 3 seeds; bars are one standard error over seeds, which is what this long caption is about.", Picture: p}
}

// written writes a picture to a file with the extension and returns its content.
func written(t *testing.T, p Picture, extension string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "figure"+extension)
	if err := WriteFile(path, figureOf(p)); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// svgTexts reads a picture as XML and returns its texts, in the order they are drawn.
func svgTexts(t *testing.T, p Picture) []string {
	t.Helper()
	var texts []string
	d := xml.NewDecoder(strings.NewReader(written(t, p, ".svg")))
	for inText := false; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				texts = append(texts, strings.TrimSpace(string(token)))
			}
		}
	}
}

// checkFiles writes a picture in the other formats. The PNG must have the size of the
// figure.
func checkFiles(t *testing.T, p Picture) {
	t.Helper()
	decoded, err := png.Decode(strings.NewReader(written(t, p, ".png")))
	if err != nil {
		t.Fatal(err)
	}
	width, height := figureOf(p).size()
	got := decoded.Bounds().Size()
	if want := width.Dots(dpi); float64(got.X) < want-1 || float64(got.X) > want+1 {
		t.Errorf("width: expected about %.0f pixels, found %d", want, got.X)
	}
	if want := height.Dots(dpi); float64(got.Y) < want-1 || float64(got.Y) > want+1 {
		t.Errorf("height: expected about %.0f pixels, found %d", want, got.Y)
	}
	if pdf := written(t, p, ".pdf"); !strings.HasPrefix(pdf, "%PDF-") || !strings.Contains(pdf, "%%EOF") {
		t.Errorf("expected a PDF, found %.20q", pdf)
	}
}

func contains(t *testing.T, texts []string, want ...string) {
	t.Helper()
	all := "\n" + strings.Join(texts, "\n") + "\n"
	for _, w := range want {
		if !strings.Contains(all, "\n"+w+"\n") {
			t.Errorf("expected the text %q in the picture, found %q", w, texts)
		}
	}
}
