package results_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/experiments/studies"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// runCommand does what `lago-train run` does.
func runCommand(t *testing.T, l *lab.Lab, c config.Config) *studies.MethodAccuracy {
	t.Helper()
	return testlab.Ask[*studies.MethodAccuracy](t, l, &studies.Method{}, testlab.Request(c))
}

const (
	summary  = `{"mean": 0.5, "sem": 0.01, "values": [0.49, 0.51]}`
	row      = `{"labels": ["eszsl", "25.0 %"], "number": 25, "accuracy": ` + summary + `, "by_draw": ` + summary + `, "relative": ` + summary + `, "interval": {"low": 0.4, "high": 0.6}}`
	degrees  = `"stage": "test", "classes": 4, "x": "share (%)", "columns": ["method", "share"], "notes": ["correction: none"], "rows": [` + row + `]}`
	stage    = `{"per_class_accuracy": ` + summary + `, "interval": {"low": 0.4, "high": 0.6}, "classes": 4, "parts": 1}`
	compared = `"differences": [{"reference": "lago", "method": "eszsl", "mean": -0.05, "interval": {"low": -0.09, "high": 0.01}, "p": 0.03, "p_holm": 0.03}],
		"methods": [{"name": "lago", "variant": "k-soft", "parts": [{}], "val": ` + stage + `, "test": ` + stage + `},
		{"name": "eszsl", "title": "ESZSL", "parts": [{}], "val": ` + stage + `, "test": ` + stage + `}]}`
)

// stored has a small stored result of each kind whose figures need no runs.
var stored = map[string]string{
	"noise":        `{"kind": "noise", ` + degrees,
	"compare":      `{"kind": "compare", "title": "Methods", "parts": 1, ` + compared,
	"rotation":     `{"kind": "rotation", "title": "Methods", "parts": 4, ` + compared,
	"reproduction": `{"kind": "reproduction", "title": "Published", "methods": [{"name": "eszsl", "title": "ESZSL", "val": ` + stage + `, "test": ` + stage + `, "published_percent": "53.9"}]}`,
	"ablation":     `{"kind": "ablation", "stage": "validation", "columns": ["prior", "complement", "supervision"], "rows": [{"labels": ["uniform", "const", "implicit"], "accuracy": ` + summary + `}]}`,
	"sweep-k":      `{"kind": "sweep-k", "stage": "validation", "x": "K", "columns": ["variant"], "rows": [{"labels": ["k-soft"], "number": 10, "accuracy": ` + summary + `}, {"labels": ["singletons"], "number": 312, "reference": true, "accuracy": ` + summary + `}]}`,
	"searched":     `{"method": "k-soft", "tried": [{"settings": {"lr": 0.1}, "val_accuracy": 0.5}], "space": ["lr"` + strings.Repeat(`, "lr"`, 50) + `], "folds": 1}`,
}

// store writes a stored result of a data set.
func store(t *testing.T, root, kind, dataset, fingerprint, result string) string {
	t.Helper()
	path := filepath.Join(root, fmt.Sprintf("%s-set-%08x.json", kind, len(dataset+fingerprint)))
	testkit.NoError(t, fileio.WriteSealed(path, lab.Stored{
		Version: 4, Kind: kind, Dataset: dataset, Fingerprint: fingerprint, Config: json.RawMessage("{}"), Result: json.RawMessage(result),
	}))
	return path
}

func read(t *testing.T, root string) *results.Report {
	t.Helper()
	return testkit.Must(results.ReadReport(t.Context(), root, studies.Kinds()))(t)
}

// render returns the page and its text.
func render(t *testing.T, p *results.Report) (page, text string) {
	t.Helper()
	var b bytes.Buffer
	testkit.NoError(t, p.Write(&b))
	page = b.String()
	tags := regexp.MustCompile(`(?s)<head>.*?</head>|<svg.*?</svg>|<[^>]*>`)
	return page, strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(page, " "))), " ")
}

// all is a folder with a result of each kind in stored, and of two run commands, best by validation accuracy.
func all(t *testing.T) (l *lab.Lab, best *studies.MethodAccuracy) {
	t.Helper()
	l = testlab.New(t)
	for _, c := range testlab.Full(l, model.Singletons, model.SemanticHard) {
		if r := runCommand(t, l, c); best == nil || r.Val.PerClass.Mean >= best.Val.PerClass.Mean {
			best = r
		}
	}
	for kind, result := range stored {
		store(t, l.Root, kind, l.Data.Name, l.Fingerprint, result)
	}
	return l, best
}

// Each stored result has a section with its tables and figures, and nothing is loaded.
func TestReport(t *testing.T) {
	l, best := all(t)
	p := read(t, l.Root)
	if len(p.Datasets) != 1 || len(p.Summary.Missing) > 0 {
		t.Fatalf("%d data sets, missing %+v", len(p.Datasets), p.Summary.Missing)
	}
	var sections []string
	for _, s := range p.Datasets[0].Sections {
		sections = append(sections, s.Name)
	}
	testkit.Equal(t, "sections", sections, []string{"run", "reproduction", "compare", "rotation", "ablation", "sweep-k", "noise", "searched"})
	page, text := render(t, p)
	testkit.WantText(t, text, "9 results in "+l.Root, "noise-set-", "The paper's tables")
	testkit.WantNoText(t, regexp.MustCompile(`xmlns(:xlink)?="[^"]*"`).ReplaceAllString(page, ""),
		"http://", "https://", "<script ", "<link", "<img", "@import", "url(", "@font-face")
	testkit.WantText(t, page, `<h1 id="data-0">simulated-small: LAGO (k-soft), 50.0 % on 4 unseen classes, cannot be ranked against ESZSL</h1>`, ". Correction: none.")
	testkit.Equal(t, "lead", p.Datasets[0].Lead.Name, "simulated-small-rotation")
	text, _ = best.Headline()
	testkit.WantText(t, text, "LAGO (", "ESZSL (defaults)", " on 4 unseen classes, cannot be ranked against ")
	alone := results.Measured{Classes: 4, Parts: 1, PerClass: lab.Summarise([]float64{0.5})}
	testkit.Equal(t, "the first of several", alone.Headline("SJE", true, nil), "SJE has the highest accuracy on 4 unseen classes: 50.0 %")
	testkit.Equal(t, "one method", alone.Headline("SJE", false, nil), "SJE, 50.0 % on 4 unseen classes")
	testkit.WantText(t, alone.Headline("SJE", true, make([]string, 4)), "against 4 other methods")
	testkit.WantText(t, testlab.Text(p.Summary.Tables()), "shows 9 stored results (ablation, compare, noise, ")

	dir := t.TempDir()
	files := testkit.Must(plot.WriteFiles(fileio.Write, dir, p.Figures()...))(t)
	if distinct := slices.Compact(slices.Sorted(slices.Values(files))); len(distinct) != len(p.Figures()) || len(distinct) < 11 {
		t.Errorf("%d files, expected one for each of %d figures", len(distinct), len(p.Figures()))
	}
	for _, file := range files {
		testkit.NoError(t, xml.Unmarshal([]byte(testkit.Read(t, file)), new(struct{})))
	}
}

// The same data set with another split has another page, and names cannot become markup
// nor leave the folder of figures.
func TestNames(t *testing.T) {
	root := t.TempDir()
	const name = "<b>birds</b> & ../co"
	store(t, root, "noise", name, "0123456789abcdef", strings.ReplaceAll(stored["noise"], "eszsl", "<i>eszsl"))
	store(t, root, "noise", name, "fedcba98", stored["noise"])
	store(t, root, "noise", "fish'", "0123", stored["noise"])
	p := read(t, root)
	var titles []string
	for _, d := range p.Datasets {
		titles = append(titles, d.Title)
	}
	slices.Sort(titles)
	testkit.Equal(t, "titles", titles, []string{name + ", fingerprint 01234567", name + ", fingerprint fedcba98", "fish'"})
	page, _ := render(t, p)
	testkit.WantText(t, page, "&lt;b&gt;birds&lt;/b&gt; &amp; ../co", "&lt;i&gt;eszsl")
	testkit.WantNoText(t, page, "<b>", "<i>")
	for _, f := range p.Figures() {
		testkit.Equal(t, "name of a figure without its folder", filepath.Base(f.Name), f.Name)
	}
}

// Results that are damaged or incomplete, and runs without a model, are listed with the reason,
// beside what can be shown.
func TestDamagedResults(t *testing.T) {
	root := t.TempDir()
	store(t, root, "noise", "fish", "1", stored["noise"])
	damaged := map[string]string{
		`kind: expected the name of a study, found "colours"`:                      store(t, root, "colours", "fish", "", "{}"),
		"result: expected a result of sweep-k, found other JSON":                   store(t, root, "sweep-k", "fish", "", `[1]`),
		"result: expected a result of ablation, found other JSON":                  store(t, root, "ablation", "fish", "", `null`),
		"trial.json: expected what a run writes, found damaged JSON. Delete the f": filepath.Dir(testkit.Write(t, root, filepath.Join("cut", train.TrialFile), `{`)),
	}
	p, why := read(t, root), map[string]string{}
	for _, m := range p.Summary.Missing {
		why[m.Name] = m.Why
	}
	for want, path := range damaged {
		testkit.WantText(t, why[path], want)
	}
	_, text := render(t, p)
	testkit.WantText(t, text, "1 result in ", "4 cannot be shown ", "Noisy descriptions")
	testkit.WantText(t, testlab.Text(p.Summary.Tables()), "shows 1 stored result (noise)\n4 cannot be shown:\n", "cut: trial.json: ")
	_, err := results.ReadReport(t.Context(), filepath.Join(root, "none"), studies.Kinds())
	testkit.WantError(t, err, filepath.Join(root, "none"))
}
