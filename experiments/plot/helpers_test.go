package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"
)

// svgTexts reads a picture as XML and returns its texts, in the order they are drawn.
func svgTexts(t *testing.T, p Picture) []string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSVG(&b, p, "a title"); err != nil {
		t.Fatal(err)
	}
	var texts []string
	d := xml.NewDecoder(&b)
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

// checkPNG decodes a picture as PNG, whose size must be that of the picture.
func checkPNG(t *testing.T, p Picture) {
	t.Helper()
	var b bytes.Buffer
	if err := writePNG(&b, p); err != nil {
		t.Fatal(err)
	}
	decoded, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	width, height := p.Size()
	got := decoded.Bounds().Size()
	if want := width.Dots(dpi); float64(got.X) < want-1 || float64(got.X) > want+1 {
		t.Errorf("width: expected about %.0f pixels, found %d", want, got.X)
	}
	if want := height.Dots(dpi); float64(got.Y) < want-1 || float64(got.Y) > want+1 {
		t.Errorf("height: expected about %.0f pixels, found %d", want, got.Y)
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
