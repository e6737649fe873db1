package report

import (
	"bytes"
	"encoding/base64"
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

// render returns the page as it is written beside the folder of runs.
func render(t *testing.T, p *Page) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(p.Dir), "report.html")
	if err := p.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func pageText(page string) string {
	tags := regexp.MustCompile(`(?s)<head>.*?</head>|<svg.*?</svg>|<[^>]*>`)
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(page, " "))), " ")
}

func TestPage(t *testing.T) {
	root := t.TempDir()
	writeAll(t, root)
	writeFile(t, filepath.Join(root, "cut", train.TrialFile), `{`)
	page := render(t, read(t, root))
	text := pageText(page)
	for _, want := range []string{
		"32 runs of LAGO in " + root, "1 run cannot be shown", filepath.Join(root, "cut"),
		"32 runs of 16 configurations: singletons, semantic-hard, k-soft, semantic-soft Best configuration semantic-soft",
		"Validation accuracy 66.0 % (95 % over 2 classes: 66.7 to 75.0; s.e.m. over 2 seeds: 1.0 %); chance is 50.0 % Test accuracy 61.0 %",
		"Variants · LAGO and its baselines · LAGO and its baselines, each class unseen once · Learning curves · Design decisions",
		"k-soft, k 2 61.0 ± 1.0 66.7 to 75.0 56.0 ± 1.0 66.7 to 75.0 2 / 2 2", // val, test, seeds, configurations
		"LAGO (k-soft) 60.0 ± 1.0 50.0 ± 2.0", "From compare-birds-00000000.json.",
		"± is one standard error over 2 noise seeds; in the column \"without noise\", over training seeds.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in\n%s", want, text)
		}
	}
	found := regexp.MustCompile(`download="birds-variants.csv" href="data:text/csv;charset=utf-8;base64,([^"]*)"`).FindStringSubmatch(page)
	if found == nil {
		t.Fatal("no link to the numbers of the variants")
	}
	numbers, err := base64.StdEncoding.DecodeString(html.UnescapeString(found[1]))
	if err != nil || !strings.Contains(string(numbers), "k-soft") {
		t.Errorf("%v, expected the numbers of k-soft, found %s", err, numbers)
	}
	if link := `<a href="` + filepath.Base(root) + `/birds-k-soft-dev-seed1-`; !strings.Contains(page, link) {
		t.Errorf("expected a link that starts with %s", link)
	}
}

// What was not run is listed once, and no section is shown for it.
func TestPageListsWhatWasNotRun(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
	text := pageText(render(t, read(t, root)))
	for _, section := range []string{"Noisy descriptions", "Learned groups", "test stage of singletons", "k-soft"} {
		_, missing, found := strings.Cut(text, "Results on birds")
		shown, missing, _ := strings.Cut(missing, "Not run yet")
		if !found || strings.Contains(shown, section) || strings.Count(missing, section+" lago-train ") > 1 {
			t.Errorf("%s: expected it among what was not run, found\n%s", section, text)
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

// What was not run has the commands that run it with the settings shown.
func TestMissingPartsHaveCommands(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 3, func(t *train.Trial) { t.Model.Beta = 0.25 }), 0.5)
	var commands [][2]string
	for _, m := range read(t, root).Datasets[0].Missing {
		commands = append(commands, [2]string{m.What, strings.ReplaceAll(m.Command, root, "DIR")})
	}
	const (
		to       = " --dataset birds --out DIR"
		shared   = " --epochs 4 --preprocess none --seeds 1 --seed 3" // what differs from the preset
		training = " --epochs 4 --seeds 1 --seed 3"
		own      = " --variant singletons --epochs 4 --bias-factor 1 --preprocess none --beta 0.25 --lambda 0 --alpha 0 --seeds 1 --seed 3"
	)
	want := [][2]string{
		{"test stage of singletons", "lago-train run" + own + to},
		{"semantic-hard", "lago-train run --variant semantic-hard" + shared + to},
		{"k-soft", "lago-train run --variant k-soft" + shared + to},
		{"semantic-soft", "lago-train run --variant semantic-soft" + shared + to},
		{"LAGO and its baselines", "lago-train compare" + to},
		{"LAGO and its baselines, each class unseen once", "lago-train compare --rotate 5" + to},
		{"ablation of the design decisions", "lago-train ablate" + strings.Replace(own, " --alpha 0", "", 1) + to},
		{"k-soft with several numbers of groups", "lago-train sweep-k" + shared + to},
		{"Noisy descriptions", "lago-train noise" + training + to},
		{"Partial descriptions, attributes given at random", "lago-train partial" + training + to},
		{"Partial descriptions, strongest attributes first", "lago-train partial --given strongest" + training + to},
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
