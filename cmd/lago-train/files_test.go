package main

import (
	"cmp"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/answers/evaluation"
	"github.com/lago-train/lago-train/experiments/answers/extract"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/experiments/studies"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// objects are those whose keys docs/files.md lists: each below its heading, and those that are
// part of others together, below "Shared objects". Of others it has the type.
var objects, shared, others = map[string]any{
	"curve.jsonl": train.Epoch{}, "result.json": train.StoredResult{},
	"Stored results": lab.Stored{}, "run": studies.MethodAccuracy{}, "compare": studies.ComparedMethods{},
	"evaluate": evaluation.Evaluation{}, "explain": predictor.Explanation{},
}, map[string]any{
	"summary": lab.Summary{}, "interval": metrics.Interval{}, "difference": metrics.Difference{},
	"measured": results.Measured{}, "method": results.Method{}, "method difference": studies.MethodDifference{},
	"edge": lab.Edge{}, "missing": lab.Missing{},
	"calibration": evaluation.Calibration{}, "stacking": evaluation.Stacking{}, "comparison": predictor.Comparison{}, "group": predictor.Group{},
	"term": predictor.Term{}, "pair": predictor.Pair{}, "probability": predictor.Probability{},
}, map[string]any{
	"`search`": studies.FoundSettings{}, "`reproduce`": studies.PaperTables{}, "`groups`": studies.LearnedGroups{},
	"`ablate`, `sweep-k`, `noise`": results.Accuracies{}, "`report`": results.ReportSummary{},
	"`runs`": results.RunList{}, "`dataset list`": catalog.Listing{}, "`dataset check`": catalog.Report{},
	"`dataset describe`": catalog.Described{}, "`dataset split`": check.SplitReport{},
	"`dataset extract`": extract.Extracted{}, "`extract.json`": openlayout.Extraction{}, "`trial.json`": train.Record{},
}

var keyTable = regexp.MustCompile(`(?m)^\| (key|object) \| .*\n(\|.*\n)+`)

const module = "github.com/lago-train/lago-train"

var update = flag.Bool("update", false, "write the tables of docs/files.md")

// The tables of docs/files.md are those of the types and of the comments of their fields.
func TestFilesDocHasEveryKey(t *testing.T) {
	const file = "../../docs/files.md"
	page := testkit.Read(t, file)
	comments := commentsOfFields(t)
	sections := strings.Split(page, "\n#")
	found := 0
	for i, section := range sections {
		heading, _, _ := strings.Cut(strings.TrimLeft(section, "# "), "\n")
		var table string
		if object, ok := objects[heading]; ok {
			table = "| key | type | meaning |\n| --- | --- | --- |\n"
			for _, k := range merge(comments.keys(reflect.TypeOf(object), false)) {
				table += fmt.Sprintf("| `%s` | %s | %s |\n", k.name, k.of, k.meaning)
			}
		} else if heading == "Shared objects" {
			table = "| object | keys |\n| --- | --- |\n"
			for _, name := range slices.Sorted(maps.Keys(shared)) {
				table += fmt.Sprintf("| %s | %s |\n", name, list(comments.keys(reflect.TypeOf(shared[name]), true)))
			}
		} else if heading == "Other objects" {
			table = "| object | type |\n| --- | --- |\n"
			for _, name := range slices.Sorted(maps.Keys(others)) {
				of := reflect.TypeOf(others[name])
				table += fmt.Sprintf("| %s | `.%s.%s` |\n", name, strings.TrimPrefix(of.PkgPath(), module), of.Name())
			}
		} else {
			continue
		}
		found++
		if was := keyTable.FindString(section); was != table && !*update {
			t.Errorf("%s: the table of %s is not that of the type. Run: go test ./cmd/lago-train -run TestFiles -update", file, heading)
		} else {
			sections[i] = strings.Replace(section, was, table, 1)
		}
	}
	if found != len(objects)+2 {
		t.Errorf("%s has %d of %d sections with tables", file, found, len(objects)+2)
	}
	if *update {
		testkit.NoError(t, os.WriteFile(file, []byte(strings.Join(sections, "\n#")), 0o644))
	}
}

// key is a key of an object.
type key struct{ name, of, meaning string }

// merge lets neighbours of one type and meaning share a row.
func merge(keys []key) (rows []key) {
	for _, k := range keys {
		if n := len(rows) - 1; n >= 0 && rows[n].meaning == k.meaning && rows[n].of == k.of && !strings.Contains(k.meaning, "<br>") {
			rows[n].name += "`, `" + k.name
		} else {
			rows = append(rows, k)
		}
	}
	return rows
}

// list returns keys as they are in a cell.
func list(keys []key) string {
	var lines []string
	for _, k := range merge(keys) {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("`%s` (%s): %s", k.name, k.of, k.meaning), ": "))
	}
	return strings.Join(lines, "<br>")
}

// fieldComments are the comments of fields, by package, type and field.
type fieldComments map[string]string

// keys lists the keys of a type. Those of an object in it follow with dots or, if they are not flat,
// are in its cell.
func (c fieldComments) keys(of reflect.Type, flat bool) (keys []key) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() && !f.Anonymous || name == "-" {
			continue
		}
		in := f.Type
		for ; typeName(in) == "" && in.Kind() != reflect.Struct; in = in.Elem() {
			if in.Kind() != reflect.Pointer {
				name += "[]"
			}
		}
		k := key{name, typeName(in), c[of.PkgPath()+"."+of.Name()+"."+f.Name]}
		switch {
		case f.Anonymous && name == "" && k.of == "":
			keys = append(keys, c.keys(in, flat)...)
			continue
		case f.Anonymous && name == "":
			k.name, k.meaning = "…", "its keys"
		case strings.HasPrefix(options, "omit"):
			k.of += ", optional"
		case f.Type.Kind() == reflect.Pointer:
			k.of += " or null"
		}
		var inner []key
		if typeName(in) == "" {
			k.of = "object" + k.of
			inner = c.keys(in, true)
		}
		if inner != nil && !flat {
			k.meaning, inner = strings.TrimPrefix(k.meaning+"<br>"+list(inner), "<br>"), nil
		}
		keys = append(keys, k)
		for _, of := range inner {
			keys = append(keys, key{name + "." + of.name, of.of, of.meaning})
		}
	}
	return keys
}

var kinds = map[reflect.Kind]string{
	reflect.Bool: "true or false", reflect.Int: "integer", reflect.Int64: "integer", reflect.Uint64: "integer",
	reflect.Float64: "number", reflect.String: "string", reflect.Map: "object", reflect.Interface: "any value",
}

// typeName returns the name of a type in JSON, "" for a list and for an object whose keys are listed.
func typeName(of reflect.Type) string {
	for name, object := range shared {
		if reflect.TypeOf(object) == of {
			return "[" + name + "](#shared-objects)"
		}
	}
	switch reflect.New(of).Interface().(type) {
	case encoding.TextMarshaler:
		return "string"
	case json.Marshaler:
		return "object"
	}
	return kinds[of.Kind()]
}

// commentsOfFields reads the sources.
func commentsOfFields(t *testing.T) fieldComments {
	t.Helper()
	const root = "../.."
	c := fieldComments{}
	testkit.NoError(t, filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, _ := n.(*ast.TypeSpec)
			if spec == nil {
				return true
			}
			if of, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range of.Fields.List {
					text := strings.TrimSuffix(strings.Join(strings.Fields(cmp.Or(f.Comment.Text(), f.Doc.Text())), " "), ".")
					for _, name := range f.Names {
						id := module + strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), root) + "." + spec.Name.Name + "." + name.Name
						c[id] = strings.ReplaceAll(strings.TrimPrefix(text, name.Name+" is "), "|", `\|`)
					}
				}
			}
			return false
		})
		return nil
	}))
	return c
}

// No command replaces a file of a data set, also not the one beside a page.
func TestCommandsKeepFilesOfDataSets(t *testing.T) {
	dir, folder, data := trained(t, onMini(t)...), filepath.Join(animals(t), "animals"), onMini(t)
	testkit.Write(t, folder, "page.html", "<p>mine")
	predict := append([]string{"predict", "--model", dir}, data...)
	for _, args := range [][]string{
		append(predict, "--to", filepath.Join(folder, "labels.html")),
		append(predict, "--to", filepath.Join(folder, "features.csv")),
		append([]string{"explain", "--model", dir, "--sample", "5", "--to", filepath.Join(folder, "page.html")}, data[:2]...),
		append([]string{"evaluate", "--model", dir, "--csv", folder}, data...),
		{"report", "--from", filepath.Dir(dir), "--to", filepath.Join(folder, "page.html")},
	} {
		misused(t, args, "or an earlier output of the same kind, found another file")
	}
	testkit.Equal(t, "page", testkit.Read(t, filepath.Join(folder, "page.html")), "<p>mine")
	testkit.Equal(t, "labels", testkit.Read(t, filepath.Join(folder, "labels.csv")), testkit.Read(t, "../../docs/example/labels.csv"))
}
