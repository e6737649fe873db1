package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"html"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

func render(t *testing.T, p *Page) string {
	t.Helper()
	var b strings.Builder
	if err := p.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPage(t *testing.T) {
	root := t.TempDir()
	writeAll(t, root)
	writeFile(t, filepath.Join(root, "cut", train.TrialFile), `{`)
	page := render(t, read(t, root))
	tags := regexp.MustCompile(`(?s)<head>.*?</head>|<svg.*?</svg>|<[^>]*>`)
	text := strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(page, " "))), " ")
	for _, want := range []string{
		"runs in " + root, "1 run cannot be shown", filepath.Join(root, "cut"),
		"Variants · LAGO and its baselines · LAGO and its baselines, each class unseen once · Learning curves · Design decisions",
		"k-soft, k 2 61.0 ± 1.0 66.7 to 75.0 56.0 ± 1.0 66.7 to 75.0 2 / 2", // val, test, seeds
		"LAGO (k-soft) 60.0 ± 1.0 50.0 ± 2.0",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in\n%s", want, text)
		}
	}
}

func TestPageLoadsNothing(t *testing.T) {
	root := t.TempDir()
	writeAll(t, root)
	page := render(t, read(t, root))
	page = regexp.MustCompile(`xmlns(:xlink)?="[^"]*"`).ReplaceAllString(page, "")
	for _, banned := range []string{"http://", "https://", "<script", "<link", "<img", "@import", "url(", "@font-face"} {
		if strings.Contains(page, banned) {
			t.Errorf("found %q in the page", banned)
		}
	}
}

func TestPageEscapesNames(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, func(t *train.Trial) { t.Dataset = "<b>birds</b> & co" }), 0.5)
	page := render(t, read(t, root))
	if strings.Contains(page, "<b>") || !strings.Contains(page, "&lt;b&gt;birds&lt;/b&gt; &amp; co") {
		t.Error("the name of the data set is not escaped")
	}
}

// Sections without data suggest the commands that run it with the settings shown.
func TestSectionsSuggestCommands(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 3, func(t *train.Trial) { t.Model.Beta = 0.25 }), 0.5)
	commands := map[string][]string{}
	for _, s := range read(t, root).Datasets[0].Sections {
		for _, c := range s.Commands {
			commands[s.Name] = append(commands[s.Name], strings.ReplaceAll(c, root, "DIR"))
		}
	}
	const (
		to     = " --dataset birds --out DIR"
		shared = " --epochs 4 --preprocess none --seeds 1 --seed 3" // what differs from the preset
		own    = " --variant singletons --epochs 4 --lr 0.001 --preprocess none --beta 0.25 --lambda 0 --alpha 0 --seeds 1 --seed 3"
	)
	want := map[string][]string{
		"variants": {
			"lago-train run --stage full" + own + to,
			"lago-train run --stage full --variant semantic-hard" + shared + to,
			"lago-train run --stage full --variant k-soft" + shared + to,
			"lago-train run --stage full --variant semantic-soft" + shared + to,
		},
		"comparison": {"lago-train compare" + to},
		"rotation":   {"lago-train compare --rotate 5" + to},
		"ablation":   {"lago-train ablate" + strings.Replace(own, " --alpha 0", "", 1) + to},
		"sweep":      {"lago-train sweep-k" + shared + to},
		"noise":      {"lago-train noise" + to + ""},
		"partial":    {"lago-train partial" + to + ""},
		"groups":     {"lago-train run --variant k-soft" + shared + to},
		"confusion":  {"lago-train run --stage full" + own + to},
	}
	if diff := cmp.Diff(want, commands); diff != "" {
		t.Errorf("commands (-expected +found):\n%s", diff)
	}
}

func TestWriteFigures(t *testing.T) {
	root := t.TempDir()
	writeAll(t, root)
	page := read(t, root)
	for format, check := range map[Format]func([]byte) error{
		SVG: func(data []byte) error { return xml.Unmarshal(data, new(struct{})) },
		PNG: func(data []byte) error { _, err := png.Decode(bytes.NewReader(data)); return err },
	} {
		dir := t.TempDir()
		files, err := page.WriteFigures(dir, format)
		if err != nil {
			t.Fatal(err)
		}
		if distinct := len(slices.Compact(slices.Sorted(slices.Values(files)))); distinct != len(page.Figures()) {
			t.Errorf("expected one file for each of %d figures, found %q", len(page.Figures()), files)
		}
		if want := filepath.Join(dir, "birds-groups."+string(format)); !slices.Contains(files, want) {
			t.Errorf("expected %s, found %q", want, files)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := check(data); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

func TestSummary(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
	writeFile(t, filepath.Join(root, "cut", train.TrialFile), `{`)
	s := read(t, root).Summary()
	s.Page = "report.html"
	var b strings.Builder
	if err := s.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := "report.html shows 1 run of 1 configuration\n1 run missing:\n  " + filepath.Join(root, "cut") + ": "
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("expected a text that starts with %q, found %q", want, b.String())
	}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"page":"report.html"`, `"figures":[]`, `"accuracy":{"mean":0.5,"sem":null,"values":[0.5]}`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("expected %s in the JSON, found %s", want, data)
		}
	}
}
