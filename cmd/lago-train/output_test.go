package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

// Outputs replace earlier ones of their kind, and nothing else unless they are forced to.
func TestOutputsReplaceOnlyTheirKind(t *testing.T) {
	const page = "<!DOCTYPE html>\n<meta name=\"generator\" content=\"lago-train %s\">\n"
	predicted, text := "sample,id,prediction,class_1,score_1\n0,a,owl,owl,1\n", "sample 5 of birds is predicted as owl\n"
	for name, c := range map[string]struct {
		old, output string
		replaced    bool
	}{
		"earlier predictions":     {"sample,prediction,class_1,score_1,class_2,score_2\n", predicted, true},
		"of Excel":                {byteOrderMark + predicted, predicted, true},
		"labels":                  {"class,id\nowl,1\n", predicted, false},
		"features":                {"0.1,0.2\n", predicted, false},
		"an earlier page":         {fmt.Sprintf(page, "sheet"), fmt.Sprintf(page, "sheet") + "new", true},
		"a page of another kind":  {fmt.Sprintf(page, "report"), fmt.Sprintf(page, "sheet"), false},
		"earlier JSON":            {`{"dataset": "a", "variant": "b"}`, `{"dataset":"c","variant":"d"}`, true},
		"a result":                {`{"status": "epochs", "epochs": 3}`, `{"dataset":"c","variant":"d"}`, false},
		"lines of JSON":           {`{"sample":0,"prediction":"owl"}`, `{"sample":7,"prediction":"wren"}`, true},
		"an earlier explanation":  {"owl/7.jpg (sample 7 of birds) is predicted as wren\n", text, true},
		"notes":                   {"To do: samples\n", text, false},
		"numbers":                 {"\x93NUMPY\x01\x00", "\x93NUMPY\x01\x00", false},
		"a photograph for a page": {"\xff\xd8\xff\xe0\x00", fmt.Sprintf(page, "sheet"), false},
		"an empty file":           {"", predicted, true},
		"lock":                    {"", predicted, false},
	} {
		path := testkit.Write(t, t.TempDir(), name, c.old)
		write := func(w io.Writer) error { _, err := io.WriteString(w, c.output); return err }
		err := new(outputs).write(path, write)
		if got := testkit.Read(t, path); (err == nil) != c.replaced || (got == c.output) != (c.replaced || c.old == c.output) {
			t.Errorf("%s: replaced %v, found %q: %v", name, err == nil, got, err)
		}
		if !c.replaced {
			testkit.WantError(t, err, path+": expected a new file, or an earlier output of the same kind, found another file", "--force")
		}
		testkit.NoError(t, (&outputs{force: true}).write(path, write))
		if read := (&outputs{inputs: []string{path}}); read.write(path, write) == nil {
			t.Errorf("%s: an input was replaced", name)
		}
	}
}

// No command replaces a file of a data set, also not the one beside a page.
func TestCommandsKeepFilesOfDataSets(t *testing.T) {
	dir, root := trained(t, onMini(t)...), animals(t)
	folder, data := filepath.Join(root, "animals"), onMini(t)
	testkit.Write(t, folder, "page.html", "<p>mine")
	content := func() map[string]string {
		files := map[string]string{}
		for _, e := range testkit.Must(os.ReadDir(folder))(t) {
			files[e.Name()] = testkit.Read(t, filepath.Join(folder, e.Name()))
		}
		return files
	}
	before := content()
	labels := filepath.Join(folder, "labels")
	predict := append([]string{"predict", "--model", dir}, data...)
	search := append([]string{"search", "--out", t.TempDir(), "--epochs", "1", "--budget", "2", "--folds", "1"}, data...)
	for _, args := range [][]string{
		append(predict, "--format", "html", "--to", labels+".html"),
		append(predict, "--format", "html", "--to", filepath.Join(folder, "page.html")),
		append(predict, "--format", "csv", "--to", labels+".csv"),
		append(predict, "--to", filepath.Join(folder, "features.csv")),
		append([]string{"explain", "--model", dir, "--sample", "5", "--to", labels + ".csv"}, data[:3]...),
		append([]string{"evaluate", "--model", dir, "--csv", folder}, data...),
		{"runs", "--from", filepath.Dir(dir), "--csv", labels + ".csv"},
		{"runs", "show", dir, "--csv", filepath.Join(folder, "splits.csv")},
		{"report", "--from", filepath.Dir(dir), "--to", labels + ".html"},
		append(search, "--to", labels+".csv"),
	} {
		if e := lagoTrain(t, args...); e.code != exitUsage || !strings.Contains(e.stderr, "or an earlier output of the same kind, found another file") {
			t.Errorf("%s ended with %d:\n%s", args, e.code, e.stderr)
		}
	}
	testkit.Equal(t, "the folder changed", content(), before)
}
