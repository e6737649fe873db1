package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

// envMain makes the test binary the program itself, so that tests see what a shell
// does: stdout, stderr, the exit code and signals.
const envMain = "LAGO_TRAIN_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(envMain) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// ofTester are variables of who runs the tests that change what the program or a shell prints.
var ofTester = regexp.MustCompile(`^(LAGO_DATA|XDG_CACHE_HOME|LC_\w+|LANG|LANGUAGE|NO_COLOR|COLUMNS|SLURM_\w+|JOB_COMPLETION\w*)=`)

// process returns the program with arguments, in an empty folder and without the variables of who tests it.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Dir = t.TempDir()
	c.Env = []string{envMain + "=1", "XDG_CACHE_HOME=" + t.TempDir()}
	c.Env = append(c.Env, slices.DeleteFunc(os.Environ(), ofTester.MatchString)...)
	return c
}

var word = regexp.MustCompile(`('[^']*'|[^ '])+`)

// words are those of a line of format.ShellLine.
func words(line string) []string {
	list := word.FindAllString(line, -1)
	for i, w := range list {
		list[i] = strings.ReplaceAll(w, "'", "")
	}
	return list
}

// ended is what a program leaves behind.
type ended struct {
	stdout, stderr string
	code           int // -1 where a signal ended it
}

// lagoTrain runs the program to its end.
func lagoTrain(t *testing.T, args ...string) ended {
	t.Helper()
	c := process(t, args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return ended{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}
}

// succeeds runs the program, which must end well, and returns its stdout.
func succeeds(t *testing.T, args ...string) string {
	t.Helper()
	e := lagoTrain(t, args...)
	if e.code != 0 {
		t.Fatalf("lago-train %s ended with %d:\n%s", strings.Join(args, " "), e.code, e.stderr)
	}
	return e.stdout
}

// refuses runs the program, which must end with a code, nothing on stdout, and a message
// with all of the parts on stderr.
func refuses(t *testing.T, code int, args []string, parts ...string) {
	t.Helper()
	e := lagoTrain(t, args...)
	if e.stdout != "" || e.code != code || strings.Contains(e.stderr, "goroutine") {
		t.Errorf("lago-train %s ended with %d, expected %d and nothing on stdout:\n%s%s", strings.Join(args, " "), e.code, code, e.stdout, e.stderr)
	}
	testkit.WantText(t, e.stderr, append(parts, "lago-train")...)
	if strings.Contains(e.stderr, "lago-train: lago-train") {
		t.Errorf("lago-train %s: the name of the program occurs twice:\n%s", strings.Join(args, " "), e.stderr)
	}
}

// misused is refuses for an error in the command line.
func misused(t *testing.T, args []string, parts ...string) {
	t.Helper()
	refuses(t, exitUsage, args, parts...)
}

// fails is refuses for bad input.
func fails(t *testing.T, args []string, parts ...string) {
	t.Helper()
	refuses(t, exitFailed, args, parts...)
}

// onMini are arguments that name a data set of 12 classes, on which a run takes milliseconds.
func onMini(t *testing.T) []string {
	t.Helper()
	dir := testkit.Must(filepath.Abs("../../dataset/xlsa17/testdata"))(t)
	return []string{"--data-dir", dir, "--dataset", "plain"}
}

// printed runs the program and reads the JSON that it prints.
func printed[T any](t *testing.T, args ...string) (v T) {
	t.Helper()
	decode(t, succeeds(t, args...), &v)
	return v
}

// decode reads JSON, and nothing after it.
func decode(t *testing.T, text string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), to); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	return testkit.Write(t, t.TempDir(), "settings.json", text)
}

// Each message names the place as it was typed, what was expected, and what was found;
// a mistyped name gets its nearest neighbours.
func TestWrongCommandLines(t *testing.T) {
	for line, parts := range map[string][]string{
		"rnu":                         {`expected a command, found "rnu"`, "Did you mean run", "See lago-train --help."},
		"check ./x":                   {`expected a command, found "check". Did you mean dataset check?`},
		"dataset fetsh --help":        {`"fetsh"`, "Did you mean fetch", "See lago-train dataset --help."},
		"infer --model latest":        {`"infer". Did you mean predict?`},
		"predict --model a --model b": {`--model: expected the flag once, found "a" and "b"`},
		"predict --images a --images b --dataset glyphs --model c": {"--dataset: expected no --dataset beside --images"},
		"run --pateince 3":       {"--pateince: expected a flag", "Did you mean --patience?", "See lago-train run --help."},
		"predict --output x.csv": {"--output: expected a flag", "Did you mean --to?"},
		"run --variant k-sotf":   {"--method: expected one of singletons", "Did you mean k-soft?"},
		"run --lr":               {"--lr: expected a value, found none", "See lago-train run --help."},
		"run glyphs":             {"run: expected flags only", `"glyphs"`, "See lago-train run --help."},
		"dataset check":          {"expected one argument, NAME|DIR, found 0 arguments"},
		"run -k 5":               {" -k: expected method", "found method semantic-hard"},
		"run -k 5 --k 5 --method k-soft --variant k-soft": {"two forms of the same flag: variant method"},
		"ablate --jobs 3 --threads 2":                     {"--jobs: expected at most the number of --threads, found 3"},
		"predict --model x --dataset glyphs --to p.xlsx":  {"--to: expected a file that ends in one of .csv, ", `"p.xlsx"`},
		"predict --features . --to none/p.csv --model x":  {"--to: none/p.csv: expected a file, found no folder none"},
		"search --to .":                         {"--to: .: expected a file, found a folder"},
		"groups --model nope --lr 1":            {"--lr: expected no --lr beside --model"},
		"serve glyphs --weights w":              {"--weights: expected --model beside it"},
		"runs --from none":                      {"--from: none: expected a folder of runs, found no such folder"},
		"compare --configs none":                {"--configs: none: expected a folder of config files, found no such folder"},
		"dataset extract birds":                 {"--images: expected a folder of images, or --list"},
		"dataset extract birds --images ./none": {"--images: ./none: expected a folder of photographs, found no such folder"},
		"predict --model x":                     {"--features", "--dataset"},
		"explain --model x":                     {"--sample", "none"},
	} {
		misused(t, strings.Fields(line), parts...)
	}
	file := writeConfig(t, `{"lambada": 1}`)
	fails(t, []string{"run", "--config", file}, file, "lambada", "Did you mean lambda?")
}

// What was removed is refused as a usage error, with what to use instead.
func TestRemoved(t *testing.T) {
	for entry := range strings.Lines(removedText) {
		line, instead, _ := strings.Cut(strings.TrimSpace(entry), ": ")
		err := execute(t.Context(), io.Discard, strings.Fields(line))
		end := exit(t.Context(), err)
		if end.ExitCode() != exitUsage || !strings.HasSuffix(end.Error(), instead) {
			t.Errorf("%s: exit code %d, %s", line, end.ExitCode(), end)
		}
	}
}

func TestOutcomeOfAnError(t *testing.T) {
	live := t.Context()
	ended, cancel := context.WithCancelCause(live)
	bySignal := errors.New("terminated signal received")
	cancel(bySignal)
	for _, c := range []struct {
		ctx  context.Context
		err  error
		text string
		code int
	}{
		{live, &invalid.Error{Where: "--lr", Want: "a number", Usage: true}, "--lr: expected a number", exitUsage},
		{live, &invalid.Error{Where: "lago-train-x.npy", Want: "a matrix"}, "lago-train-x.npy: expected a matrix", exitFailed},
		{live, fmt.Errorf("reading a file: %w", context.Canceled), "interrupted", exitCancelled},
		{ended, fmt.Errorf("reading a file: %w", bySignal), "interrupted", exitCancelled},
		{ended, errors.New("no space left"), "no space left", exitFailed},
		{ended, fmt.Errorf("interrupted with 1 of 2 runs finished in runs; repeat the command to resume: %w", bySignal), "interrupted with 1 of 2 runs finished in runs; repeat the command to resume", exitCancelled},
	} {
		if end := exit(c.ctx, c.err); end.Error() != c.text || end.ExitCode() != c.code {
			t.Errorf("%v: %q and exit code %d, expected %q and %d", c.err, end, end.ExitCode(), c.text, c.code)
		}
	}
}

// The log is written in place of the progress line, which does not wrap.
func TestProgressLineOnATerminal(t *testing.T) {
	var out bytes.Buffer
	s := &statusLine{to: &out, terminal: true, width: func() int { return 6 }}
	s.replace("half", false)
	testkit.Must(s.Write([]byte("an entry\n")))(t)
	s.replace("whole line", true)
	testkit.Equal(t, "terminal", out.String(), "half\r\x1b[Kan entry\nwhole\n")
}

func TestProse(t *testing.T) {
	e := logrus.WithField("run", "a-b").WithField("epochs", 3)
	for level, want := range map[logrus.Level]string{logrus.InfoLevel: "it \uFFFD[2J; epochs: 3; run: a-b\n", logrus.WarnLevel: "warning: it \uFFFD[2J; epochs: 3; run: a-b\n"} {
		e.Level, e.Message = level, "it \x1b[2J"
		testkit.Equal(t, "entry", string(testkit.Must(prose{}.Format(e))(t)), want)
	}
}
