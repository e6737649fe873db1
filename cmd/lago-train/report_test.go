package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	dir := t.TempDir()
	runs, page, figures := filepath.Join(dir, "runs"), filepath.Join(dir, "r.html"), filepath.Join(dir, "figures")
	succeeds(t, append([]string{"run", "--out", runs, "--seeds", "1", "--epochs", "2"}, onMini(t)...)...)
	args := []string{"report", "--from", runs, "--out", page, "--figures", figures}
	text := succeeds(t, args...)
	if want := page + " shows 2 runs of 2 configurations\n  " + figures; !strings.HasPrefix(text, want) {
		t.Errorf("expected %q at the start, found %q", want, text)
	}
	html := read(t, page)
	files, err := filepath.Glob(filepath.Join(figures, "*.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(html, "<svg"); n == 0 || n != len(files) {
		t.Errorf("expected as many pictures in the page as files, found %d and %d", n, len(files))
	}
	o := object(t, succeeds(t, append(args, "--json", "--format", "png")...))
	compareKeys(t, "report", o, "page", "figures", "configurations", "stored", "missing")
}

// The suggested command completes the configuration that is shown, and reuses its runs.
func TestReportSuggestsTheConfigurationShown(t *testing.T) {
	dir := t.TempDir()
	runs, page := filepath.Join(dir, "runs"), filepath.Join(dir, "r.html")
	args := []string{"run", "--stage", "dev", "--seeds", "1", "--seed", "4", "--epochs", "2", "--lr", "0.01", "--alpha", "0.5", "--out", runs}
	succeeds(t, append(args, onMini(t)...)...)
	succeeds(t, "report", "--from", runs, "--out", page)
	html := read(t, page)
	suggested := regexp.MustCompile(`lago-train (run --variant semantic-hard [^<]*)`).FindStringSubmatch(html)
	if suggested == nil {
		t.Fatalf("no command in\n%s", html)
	}
	succeeds(t, append(strings.Fields(suggested[1]), onMini(t)[:3]...)...)
	dev, _ := filepath.Glob(filepath.Join(runs, "*-dev-seed4-*"))
	test, _ := filepath.Glob(filepath.Join(runs, "*-test-seed4-*"))
	if len(folders(t, runs)) != 2 || len(dev) != 1 || len(test) != 1 {
		t.Errorf("%s: found the runs %v and %v, expected one of each stage", suggested[1], dev, test)
	}
}

func TestReportRefusesWhatItCantShow(t *testing.T) {
	empty := t.TempDir()
	refuses(t, []string{"report", "--from", empty}, empty+": expected folders of runs, found none")
	refuses(t, []string{"report", "--from", filepath.Join(empty, "absent")}, "absent")
	refuses(t, []string{"report", "--from", empty, "--format", "gif"}, `--format: expected one of svg, pdf, png, csv, found "gif"`)
	refuses(t, []string{"report", "--from", empty, "--format", "pdf"}, "--format: expected --figures beside it")
	refuses(t, []string{"report", empty}, "expected flags only")
}
