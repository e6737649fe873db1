package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// walk is the block of commands in docs/your-data.md that goes from its files to predictions,
// and what it says that predict prints.
var walk = regexp.MustCompile("(?s)```sh\n(lago-train dataset check animals\n.*?)```.*?```\n(.*?)```")

// The way from the files of docs/your-data.md to classes that are in none of them, as a
// shell runs it.
func TestYourDataFromStartToEnd(t *testing.T) {
	text := read(t, "../../docs/your-data.md")
	found := walk.FindStringSubmatch(text)
	if found == nil {
		t.Fatal("the document has no commands from start to end")
	}
	root := animals(t)
	dir, bin := t.TempDir(), t.TempDir()
	if err := os.Rename(root, filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	program, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(bin, "lago-train")); err != nil {
		t.Fatal(err)
	}
	sh := exec.Command("sh", "-eu", "-c", found[1])
	sh.Dir = dir
	sh.Env = append(command(t).Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	var stdout, stderr bytes.Buffer
	sh.Stdout, sh.Stderr = &stdout, &stderr
	if err := sh.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
	}
	for _, part := range []string{"animals: no problems found", "The sum over 3 groups", "harmonic mean"} {
		if !strings.Contains(stdout.String(), part) {
			t.Errorf("expected %q in\n%s", part, stdout.String())
		}
	}
	// But for the probabilities, whose last digits are the BLAS's.
	if want, got := named(found[2]), named(stdout.String()); !slices.Equal(want, got) || len(want) != 4 {
		t.Errorf("the document has %q, the shell %q", want, got)
	}
}

// named lists sample, id, class and prediction of the lines that predict prints.
func named(text string) []string {
	return regexp.MustCompile(`(?m)^ +\d+  \S+ +\w+ +\w+ `).FindAllString(text, -1)
}

var (
	linkInText = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)]*))?\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInSlug  = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// Links of the README and the docs lead to files, and headings in them.
func TestLinksOfTheDocs(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../../README.md", "../../CONTRIBUTING.md") {
		for _, m := range linkInText.FindAllStringSubmatch(read(t, file), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			to := file
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(file), m[1])
			}
			if m[2] == "" {
				if _, err := os.Stat(to); err != nil {
					t.Errorf("%s: %v", file, err)
				}
				continue
			}
			var slugs []string
			for _, h := range heading.FindAllStringSubmatch(read(t, to), -1) {
				slugs = append(slugs, strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
			}
			if !slices.Contains(slugs, m[2]) {
				t.Errorf("%s: no heading %s in %s", file, m[2], to)
			}
		}
	}
}
