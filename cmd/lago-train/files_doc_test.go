package main

import (
	"encoding"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/dataset/split"
	"github.com/lago-train/lago-train/experiments/ablation"
	"github.com/lago-train/lago-train/experiments/comparison"
	"github.com/lago-train/lago-train/experiments/evaluation"
	"github.com/lago-train/lago-train/experiments/explain"
	"github.com/lago-train/lago-train/experiments/extract"
	"github.com/lago-train/lago-train/experiments/grouping"
	"github.com/lago-train/lago-train/experiments/ksweep"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/report"
	"github.com/lago-train/lago-train/experiments/reproduction"
	"github.com/lago-train/lago-train/experiments/robustness"
	"github.com/lago-train/lago-train/experiments/runs"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// documentedObjects are the objects that docs/files.md has a table of, by its heading.
// Those of the first group are part of others.
var documentedObjects = []struct {
	heading string
	object  any
}{
	{"summary", lab.Summary{}},
	{"interval", metrics.Interval{}},
	{"difference", metrics.Difference{}},
	{"measured", protocol.Measured{}},
	{"method", tuning.Method{}},
	{"missing", lab.Missing{}},
	{"left out", protocol.LeftOut{}},
	{"blas", blas.Info{}},
	{"row", reproduction.Row{}},
	{"point", ksweep.Point{}},
	{"robustness", robustness.Method{}},
	{"temperature", evaluation.Tempered{}},
	{"pair", explain.Pair{}},
	{"change", explain.Change{}},
	{"probability", explain.Probability{}},
	{"problem", catalog.Problem{}},

	{"trial.json", train.Record{}},
	{"curve.jsonl", train.Epoch{}},
	{"result.json", train.Result{}},
	{"run", protocol.Outcome{}},
	{"search", tuning.Found{}},
	{"compare", comparison.Result{}},
	{"reproduce", reproduction.Result{}},
	{"ablate", ablation.Result{}},
	{"sweep-k", ksweep.Result{}},
	{"noise", robustness.NoiseResult{}},
	{"partial", robustness.PartialResult{}},
	{"groups", grouping.Result{}},
	{"report", report.Summary{}},
	{"runs", runs.Listing{}},
	{"runs show", runs.Detail{}},
	{"evaluate", evaluation.Result{}},
	{"explanation", explain.Result{}},
	{"dataset list", catalog.Listing{}},
	{"dataset info", catalog.Summary{}},
	{"dataset check", catalog.Report{}},
	{"dataset split", split.Report{}},
	{"dataset fetch", fetch.Result{}},
	{"dataset extract", extract.Result{}},
	{"extract.json", openlayout.Extraction{}},
	{"dataset convert", catalog.Converted{}},
}

// sharedObjects is the number of objects that are part of others.
const sharedObjects = 16

var keyOfTable = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

func TestFilesDocHasEveryKey(t *testing.T) {
	text := read(t, "../../docs/files.md")
	for _, o := range documentedObjects {
		_, section, ok := strings.Cut(text, "\n### "+o.heading+"\n")
		if !ok {
			t.Errorf("no section %s", o.heading)
			continue
		}
		section, _, _ = strings.Cut(section, "\n#")
		var got []string
		for _, m := range keyOfTable.FindAllStringSubmatch(section, -1) {
			got = append(got, m[1])
		}
		want := keysOf(reflect.TypeOf(o.object), "")
		if !slices.Equal(got, want) {
			t.Errorf("%s: the document has\n%s\nexpected\n%s", o.heading, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// keysOf lists the keys of an object and, with dots, of the objects in it, but for those with
// tables of their own.
func keysOf(object reflect.Type, above string) (keys []string) {
	for i := range object.NumField() {
		f := object.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			keys = append(keys, keysOf(deref(f.Type), above)...)
			continue
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		in, suffix := deref(f.Type), ""
		for in.Kind() == reflect.Slice {
			in, suffix = deref(in.Elem()), suffix+"[]"
		}
		keys = append(keys, above+name+suffix)
		if in.Kind() == reflect.Struct && !isWhole(in) {
			keys = append(keys, keysOf(in, above+name+suffix+".")...)
		}
	}
	return keys
}

// isWhole reports whether a type is one value in a table.
func isWhole(of reflect.Type) bool {
	for _, o := range documentedObjects[:sharedObjects] {
		if reflect.TypeOf(o.object) == of {
			return true
		}
	}
	_, marshals := reflect.New(of).Interface().(json.Marshaler)
	_, isText := reflect.New(of).Interface().(encoding.TextMarshaler)
	return marshals || isText || of == reflect.TypeFor[protocol.Outcome]()
}

func deref(of reflect.Type) reflect.Type {
	if of.Kind() == reflect.Pointer {
		return of.Elem()
	}
	return of
}
