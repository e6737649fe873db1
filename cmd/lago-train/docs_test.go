package main

import (
	"bytes"
	"cmp"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/testkit"
)

var (
	pages  = flag.String("pages", "docs/your-data.md", "pages whose commands are run, separated by commas")
	python = flag.String("python", "", "interpreter that runs blocks of Python; without it they are not run")
	data   = flag.String("data", "", "data folder that stands for $LAGO_DATA on the pages")
)

// The commands of a page work in order, in a folder with nothing but docs/example, and print what the
// page shows. The default page takes seconds and needs no data; make docs-check and readme-check run the others.
func TestPages(t *testing.T) {
	bin := t.TempDir()
	program := testkit.Must(filepath.Abs(os.Args[0]))(t)
	testkit.NoError(t, os.Symlink(program, filepath.Join(bin, "lago-train")))
	for _, page := range strings.Split(*pages, ",") {
		t.Run(filepath.Base(page), func(t *testing.T) {
			dir := t.TempDir()
			testkit.NoError(t, os.Rename(animals(t), filepath.Join(dir, "data")))
			testkit.NoError(t, os.CopyFS(filepath.Join(dir, "docs", "example"), os.DirFS("../../docs/example"))) // as in a clone
			env := append(process(t).Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			if *data != "" {
				env = append(env, "LAGO_DATA="+*data)
			}
			checkPage(t, testkit.Read(t, "../../"+page), dir, env)
		})
	}
}

// The scripts of docs/xlsa17.md write folders that the program reads, also where nothing is held out.
func TestScriptsOfXlsa17(t *testing.T) {
	if *python == "" {
		t.Skip("without -python")
	}
	dir := t.TempDir()
	testkit.NoError(t, os.CopyFS(filepath.Join(dir, "data", "birds"), os.DirFS("../../dataset/xlsa17/testdata/plain")))
	for _, b := range block.FindAllStringSubmatch(testkit.Read(t, "../../docs/xlsa17.md"), -1) {
		if b[1] != "python" || !strings.Contains(b[2], "birds-open") {
			continue
		}
		script := exec.Command(*python, "-c", b[2])
		script.Dir = dir
		if printed, err := script.CombinedOutput(); err != nil {
			t.Fatalf("%s\n%s", b[2], printed)
		}
		labels := filepath.Join("data", "birds-open", "labels.csv")
		testkit.Write(t, dir, labels, strings.ReplaceAll(testkit.Read(t, filepath.Join(dir, labels)), ",yes", ",no"))
	}
	for _, folder := range []string{"birds-open", "birds-back"} {
		if e := lagoTrain(t, "dataset", "check", filepath.Join(dir, "data", folder)); e.code != 0 {
			t.Errorf("%s: %s%s", folder, e.stdout, e.stderr)
		}
	}
}

// docs/files.md has the form of each reader, as its refusals quote it.
func TestFormsAreListed(t *testing.T) {
	page := testkit.Read(t, "../../docs/files.md")
	for _, form := range []string{
		dataset.FormOfTables, descriptions.Form, descriptions.ClassesForm, descriptions.AttributesForm,
		openlayout.LabelsForm, features.Form, images.ListForm,
	} {
		if !strings.Contains(page, form) {
			t.Errorf("docs/files.md lacks %q", form)
		}
	}
}

// block is a fenced block with its language, or indented commands.
var block = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$|((?:^    lago-train [^\n]*\n)+)")

// checkPage runs the commands of a page: those of sh blocks and indented ones, and in
// console blocks lines after "$ ". A block without a language, or the rest of a console
// block, is an excerpt of what the last commands printed.
func checkPage(t *testing.T, text, dir string, env []string) {
	t.Helper()
	ran, printed := false, ""
	execute := func(commands string, interpreter ...string) {
		t.Helper()
		if reason := needs(commands, dir); reason != "" {
			t.Logf("skipped, since it needs %s:\n%s", reason, commands)
			ran = false
			return
		}
		sh := exec.Command(interpreter[0], append(interpreter[1:], commands)...)
		sh.Dir, sh.Env = dir, env
		var stdout, stderr bytes.Buffer
		sh.Stdout, sh.Stderr = &stdout, &stderr
		if err := sh.Run(); err != nil {
			t.Errorf("%s: %v\n%s", commands, err, stderr.String())
		}
		ran, printed = true, stdout.String()
	}
	for _, b := range block.FindAllStringSubmatch(text, -1) {
		switch language, body, indented := b[1], b[2], b[3]; {
		case indented != "" || language == "sh":
			execute(cmp.Or(indented, body), "sh", "-eu", "-c")
		case language == "python" && *python != "":
			execute(body, *python, "-c")
		case language == "console":
			for _, part := range strings.Split("\n"+body, "\n$ ")[1:] {
				line, shown, _ := strings.Cut(part, "\n")
				if execute(line, "sh", "-eu", "-c"); ran {
					checkExcerpt(t, shown, printed)
				}
			}
		case language == "" && ran:
			checkExcerpt(t, body, printed)
		}
	}
}

var (
	absent    = regexp.MustCompile(`import torch|timm|sklearn|traits\.csv| fetch | serve |--weights|--images? |--features |dataset split .*--(?:out|to)|^ *(go|git|make) `)
	otherData = regexp.MustCompile(`\b(awa2|cub127|cub|sun|birds)\b`)
)

// needs returns what commands need that is missing, or "".
func needs(commands, dir string) string {
	runs, _ := filepath.Glob(filepath.Join(dir, "runs", "*"))
	sets, _ := filepath.Glob(filepath.Join(*data, "*"))
	name := otherData.FindString(commands)
	switch {
	case absent.MatchString(commands):
		return "files that the page does not have"
	case name != "" && (*data == "" || !strings.Contains(strings.ToLower(strings.Join(sets, "\n")+"\n"), "/"+name+"\n")):
		return name + " in $LAGO_DATA"
	case strings.Contains(commands, "--model ") && !strings.Contains(commands, "lago-train run ") && len(runs) == 0:
		return "the runs of commands that were skipped"
	}
	return ""
}

// checkExcerpt reports the first line of an excerpt that is not printed after those before
// it. A line "..." stands for any number of lines.
func checkExcerpt(t *testing.T, excerpt, printed string) {
	t.Helper()
	rest := strings.Split(printed, "\n")
	for _, line := range strings.Split(excerpt, "\n") {
		if strings.TrimSpace(line) == "..." || strings.TrimSpace(line) == "" {
			continue
		}
		i := 0
		for i < len(rest) && !sameLine(line, rest[i]) {
			i++
		}
		if i == len(rest) {
			t.Errorf("the page shows\n%s\nand the commands print\n%s", line, printed)
			return
		}
		rest = rest[i+1:]
	}
}

// varying is what differs between machines and days: times, dates, digests of runs,
// versions and folders; and the widths of columns.
var varying = regexp.MustCompile(`\d+(\.\d+)? (s|ms|min|h)\b|\d{4}-\d\d-\d\d( \d\d:\d\d)?|-[0-9a-f]{12}\b|\bv\d+\.\S+|(^| )/\S+/|─+`)

// sameLine reports whether two lines are the same but for what varies and for the last
// digits of numbers, which are the BLAS's.
func sameLine(a, b string) bool {
	x, y := strings.Fields(varying.ReplaceAllString(a, " * ")), strings.Fields(varying.ReplaceAllString(b, " * "))
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		p, errP := strconv.ParseFloat(strings.TrimRight(x[i], ",;"), 64)
		q, errQ := strconv.ParseFloat(strings.TrimRight(y[i], ",;"), 64)
		close := errP == nil && errQ == nil && math.Abs(p-q) <= 0.002*max(1, math.Abs(p))
		if x[i] != y[i] && (!close || p == math.Trunc(p) && q == math.Trunc(q)) {
			return false
		}
	}
	return true
}

// The program of docs/go.md is the Example of package train.
func TestProgramOfTheDocs(t *testing.T) {
	page, example := testkit.Read(t, "../../docs/go.md"), testkit.Read(t, "../../train/example_test.go")
	_, program, _ := strings.Cut(page, "func main() {\n")
	program, _, _ = strings.Cut(program, "\n}\n")
	_, printed, _ := strings.Cut(page, "It prints\n\n```\n")
	printed, _, _ = strings.Cut(printed, "```")
	testkit.WantText(t, example, program, "\t// "+strings.ReplaceAll(strings.TrimSpace(printed), "\n", "\n\t// "))
}

var (
	linkInText = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)]*))?\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInSlug  = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// Links of the README and the docs lead to files, and headings in them.
func TestLinksOfTheDocs(t *testing.T) {
	files := testkit.Must(filepath.Glob("../../docs/*.md"))(t)
	for _, file := range append(files, "../../README.md", "../../CONTRIBUTING.md") {
		for _, m := range linkInText.FindAllStringSubmatch(testkit.Read(t, file), -1) {
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
			for _, h := range heading.FindAllStringSubmatch(testkit.Read(t, to), -1) {
				slugs = append(slugs, strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
			}
			if !slices.Contains(slugs, m[2]) {
				t.Errorf("%s: no heading %s in %s", file, m[2], to)
			}
		}
	}
}

// A row of README's table has the numbers of lines of docs/results.md that name its method: accuracy and
// interval, and the interval and p of the difference from LAGO.
func TestResultsOfTheREADME(t *testing.T) {
	lines := strings.Split(strings.ToLower(testkit.Read(t, "../../docs/results.md")), "\n")
	_, rows, _ := strings.Cut(testkit.Read(t, "../../README.md"), "| method | accuracy on unseen classes ")
	rows, _, _ = strings.Cut(rows, "\n\n")
	for _, row := range strings.Split(rows, "\n")[2:] {
		cells := strings.Split(strings.Trim(strings.ToLower(strings.ReplaceAll(row, "*", "")), "| "), " | ")
		method, _, _ := strings.Cut(cells[0], " ")
		for _, numbers := range [][]string{cells[1:3], cells[min(3, len(cells)):max(len(cells)-1, 3)]} {
			found := slices.ContainsFunc(lines, func(line string) bool {
				return strings.Contains(line, method) && !slices.ContainsFunc(numbers, func(number string) bool {
					return !strings.Contains(line, strings.TrimSpace(number))
				})
			})
			if !found {
				t.Errorf("docs/results.md has no line of %s with %q", method, numbers)
			}
		}
	}
}
