package invalid

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

func TestErrorText(t *testing.T) {
	cause, dir := errors.New("unexpected end"), t.TempDir()
	testkit.Write(t, dir, "a.csv", "")
	for want, err := range map[string]error{
		"a.csv: line 3: expected a number, found x. Write 0.5.":                                      &Error{Where: "a.csv", Field: "line 3", Want: "a number", Got: "x", Hint: "Write 0.5."},
		`c.json: "k\x1b[31m": expected 1, found "2\n"`:                                               &Error{Where: "c.json", Field: "k\x1b[31m", Want: "1", Got: "2\n"},
		Quote(strings.Repeat("x", 1e5)) + ": expected a flag":                                        &Error{Where: strings.Repeat("x", 1e5), Want: "a flag"},
		"a.csv: unexpected end":                                                                      At("a.csv", cause),
		"k: expected 1, found 2: unexpected end. Try 1.":                                             &Error{Field: "k", Want: "1", Got: "2", Err: cause, Hint: "Try 1."},
		"f.json: lr: expected 1, found 2":                                                            At("f.json", &Error{Field: "lr", Want: "1", Got: "2", Usage: true}),
		"f.json: eszsl: expected 1, found 2":                                                         At("f.json", &Error{Where: "eszsl", Want: "1", Got: "2"}),
		"/nowhere: expected a file, found no such file":                                              File("/nowhere", testError(os.Open("/nowhere"))),
		"/nowhere/a/b: expected a file, found no folder /nowhere":                                    File("/nowhere/a/b", testError(os.Open("/nowhere/a/b"))),
		"/nowhere: expected a folder of runs, found no such folder":                                  Folder("/nowhere", "a folder of runs", testError(os.Open("/nowhere"))),
		"/root: expected permission to read or write it, found none":                                 File("/root", &fs.PathError{Err: syscall.EACCES}),
		dir + ": expected a file, found a folder":                                                    File(dir, testError(os.ReadFile(dir))),
		dir + ": expected a new folder, found one that is there":                                     Folder(dir, "a folder", os.Mkdir(dir, 0o755)),
		dir + "/a.csv: expected a folder, found a file":                                              Folder(dir+"/a.csv", "a folder", testError(os.ReadDir(dir+"/a.csv"))),
		dir + "/a.csv/b/c: expected a folder, found a file in place of the folder " + dir + "/a.csv": Folder(dir+"/a.csv/b/c", "a folder", os.MkdirAll(dir+"/a.csv/b/c", 0o755)),
	} {
		e, ok := err.(*Error)
		if !ok || err.Error() != want || e.Usage != (e.Field == "lr") {
			t.Errorf("found %q, usage %v, expected %q", err, e.Usage, want)
		}
		if e.Err != nil && !errors.Is(err, cause) && !errors.As(err, new(syscall.Errno)) {
			t.Errorf("%q does not unwrap to its cause", want)
		}
	}
	if At("f.json", nil) != nil || File("f.json", nil) != nil || new(List).Err() != nil {
		t.Error("no error became one")
	}
}

func testError[V any](_ V, err error) error { return err }

func TestNames(t *testing.T) {
	names := []string{"cub", "awa2", "sun", "simulated-cub", "glyphs"}
	for text, want := range map[string]string{
		"cbu": "cub?", "AWA": "awa2?", "glyhps": "glyphs?", "sim": "simulated-cub?", "mnist": "", "": "", "2": "",
	} {
		testkit.Equal(t, fmt.Sprintf("%q", text), strings.TrimPrefix(DidYouMean(text, names), "Did you mean "), want)
	}
	testkit.Equal(t, "AWA2", testkit.Must(OneOf("AWA2", names...))(t), "awa2")
}

func TestListCountsErrorsOfOneKind(t *testing.T) {
	var l List
	for i := range 8 {
		testkit.Equal(t, fmt.Sprintf("full before error %d", i), l.Full("number", "a.csv"), i >= MaxOfKind)
		l.Add("number", &Error{Where: "a.csv", Field: fmt.Sprintf("line %d", i+1), Want: "a number", Got: "x"})
	}
	l.Add("number", &Error{Where: "b.csv", Field: "line 1", Want: "a number", Got: "x"})
	l.AddError(nil)
	lines := strings.Split(l.Err().Error(), "\n")
	if l.Len() != MaxOfKind+2 || len(lines) != MaxOfKind+2 {
		t.Fatalf("found %d errors in %d lines, expected %d", l.Len(), len(lines), MaxOfKind+2)
	}
	testkit.WantText(t, lines[MaxOfKind], "a.csv: expected a number, found 3 more, the last at line 8")
}

func TestQuoteIsShortAndSafe(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[31mred":             `"\x1b[31mred"`,
		strings.Repeat("é", 60):   `"` + strings.Repeat("é", 60) + `"`,
		strings.Repeat("é", 1000): `"` + strings.Repeat("é", 60) + `..."`,
	} {
		testkit.Equal(t, "quoted", Quote(text), want)
	}
	if HasControl("été\u200d") || !HasControl("\x1b[31m") || !HasControl("a\u202eb") || !HasControl("a\u2028b") || !HasControl("\ufeffa") || !HasControl("a\xff") {
		t.Error("marks of direction and control characters are not found")
	}
}
