package main

import (
	"os"
	"path/filepath"
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
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(figures, "*.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(html), "<svg"); n == 0 || n != len(files) {
		t.Errorf("expected as many pictures in the page as files, found %d and %d", n, len(files))
	}
	o := object(t, succeeds(t, append(args, "--json", "--format", "png")...))
	compareKeys(t, "report", o, "page", "figures", "configurations", "missing")
}

func TestReportRefusesWhatItCantShow(t *testing.T) {
	empty := t.TempDir()
	refuses(t, []string{"report", "--from", empty}, empty+": expected folders of runs, found none")
	refuses(t, []string{"report", "--from", filepath.Join(empty, "absent")}, "absent")
	refuses(t, []string{"report", "--from", empty, "--format", "pdf"}, `--format: expected one of svg, png, found "pdf"`)
	refuses(t, []string{"report", empty}, "expected flags only")
}
