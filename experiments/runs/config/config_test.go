package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/lago"
	"github.com/lago-train/lago-train/train/methods"
)

var update = flag.Bool("update", false, "write the table of docs/settings.md")

// resolve resolves the settings of a file and flags.
func resolve(t *testing.T, text string, flags ...setting.Assignment) (Preset, error) {
	t.Helper()
	given, err := ReadFile(t.Context(), testkit.Write(t, t.TempDir(), "settings.json", text))
	if err != nil {
		return Preset{}, err
	}
	return Resolve(append(given, flags...), PresetFor)
}

func flagged(key, text string) setting.Assignment {
	return setting.Assignment{Key: key, Text: text, Where: "--" + strings.ReplaceAll(key, "_", "-")}
}

// drawConfig draws a configuration of LAGO that passes Check.
func drawConfig(t *rapid.T) Config {
	c := Defaults(methods.Variant(rapid.SampledFrom(model.Variants).Draw(t, "variant")))
	for _, s := range c.Settings() {
		if list := append(s.Search, setting.All(s.Options...)...); len(list) > 0 && s.Key != "method" && s.Key != "preprocess" {
			s.Set(rapid.SampledFrom(list).Draw(t, s.Key))
			continue
		}
		switch v := s.Value().(type) {
		case float64:
			s.Set(rapid.Float64Range(1e-9, 0.3).Draw(t, s.Key))
		case int:
			s.Set(rapid.IntRange(1, 3).Draw(t, s.Key))
		case uint64:
			s.Set(rapid.Uint64Max(math.MaxInt64).Draw(t, s.Key))
		case bool:
			s.Set(!v)
		case preprocess.Chain:
			s.Set(rapid.SampledFrom(searchedChains).Draw(t, s.Key))
		case string:
			if s.Key != "method" {
				s.Set(rapid.StringMatching(`[a-z0-9-]{1,9}`).Draw(t, s.Key))
			}
		}
	}
	return c
}

// smallData is for tests that do not change it.
var smallData = tiny.Small()

// trials names those of a stage.
func trials(t testkit.TB, c Config, stage train.Stage) (names []string) {
	t.Helper()
	testkit.NoError(t, c.Check())
	for _, trial := range c.Trials(smallData, "data", stage, 9) {
		names = append(names, trial.Name())
	}
	return names
}

func TestFlagsOverrideTheFileAndThatThePreset(t *testing.T) {
	p := testkit.Must(resolve(t, `{"dataset": "CUB", "method": "k-soft", "lr": 5e-1, "k": 7, "prior": "per-attribute"}`,
		flagged("lr", "0.25"), flagged("stage", "dev")))(t)
	want := PresetFor("cub", methods.Variant(model.KSoft)).With("lr", 0.25).With("k", 7).With("prior", model.PerAttribute).With("stage", OnlyDev)
	testkit.Equal(t, "settings", p.Settings().Values(), want.Settings().Values())
	for key, want := range map[string]string{"lr": "--lr", "zeta": FromPreset, "seeds": ""} {
		testkit.Equal(t, "origin of "+key, p.Origins[key], want)
	}
	testkit.WantText(t, p.Origins["k"], "settings.json")
}

// A written file, and the JSON of a stored result, make the same trials.
func TestWrittenConfigsMakeTheSameTrials(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		want := drawConfig(t)
		data := testkit.Must(json.Marshal(want))(t)
		path := testkit.Write(t, dir, "settings.json", string(data))
		p := testkit.Must(Resolve(testkit.Must(ReadFile(t.Context(), path))(t), PresetFor))(t)
		var read Config
		testkit.NoError(t, json.Unmarshal(data, &read))
		for _, stage := range []train.Stage{train.Dev, train.Test} {
			if want.Stage == OnlyTest && stage == train.Dev {
				continue // which has a patience
			}
			testkit.Equal(t, "trials", [][]string{trials(t, p.Config, stage), trials(t, read, stage)}, [][]string{trials(t, want, stage), trials(t, want, stage)})
		}
	})
	path := filepath.Join(dir, "chosen.json")
	testkit.NoError(t, fileio.Write(path, func(w io.Writer) error {
		return Defaults(methods.Variant(model.KSoft)).With("k", 7).Write(w, "abc")
	}))
	p := testkit.Must(Resolve(testkit.Must(ReadFile(t.Context(), path))(t), PresetFor))(t)
	testkit.Equal(t, "chosen on, and k", []any{p.ChosenOn, p.Value("k")}, []any{"abc", 7})
}

// A setting distinguishes trials if, and only if, it applies. A new setting is expected to
// make another trial until it is listed here.
func TestOnlyUsedSettingsDistinguishTrials(t *testing.T) {
	// These decide which trials there are. The split is in the fingerprint of the data. No weight depends
	// on the correction.
	protocol := []string{"dev_split", "stage", "seeds", "seed", "epochs"}
	rapid.Check(t, func(t *rapid.T) {
		base := drawConfig(t).With("seeds", 1).With("seed", 1)
		keys := slices.DeleteFunc(base.Settings().Keys(), func(key string) bool { return key == "method" || slices.Contains(protocol, key) })
		key := rapid.SampledFrom(keys).Draw(t, "setting")
		s := testkit.Must(base.Settings().Find(key))(t)
		stage := rapid.SampledFrom([]train.Stage{train.Dev, train.Test}).Draw(t, "trial of")
		drawn := drawConfig(t)
		drawn.Method.Method.(*lago.Settings).Variant = base.Method.Variant()
		other := base.With(key, drawn.Value(key))
		if key == "preprocess" {
			base, other = base.With("ridge", 0), other.With("ridge", 0) // which whiten alone uses
		}
		used := !s.Unused && !slices.Contains(methods.CorrectionKeys, key)
		if key == "patience" {
			used = stage == train.Dev
		}
		differ := trials(t, base.With("stage", DevThenTest), stage)[0] != trials(t, other.With("stage", DevThenTest), stage)[0]
		if want := used && base.Value(key) != other.Value(key); differ != want {
			t.Errorf("%s %v and %v of %s in %s: different trials: %t, expected %t", key, base.Value(key), other.Value(key), base.Method.Label(), stage, differ, want)
		}
	})
}

// A setting without effect is refused, in a flag and in a file, unless it repeats the value that the run has
// anyway.
func TestSettingsThatDoNotApplyAreRefused(t *testing.T) {
	learned := format.List(format.Strings(model.VariantsWith(func(v model.VariantInfo) bool { return v.Learned })), "and")
	for _, c := range []struct{ key, text, rest, want string }{
		{"k", "5", `{}`, "k-soft, found method semantic-hard"},
		{"lr_v", "0.5", `{"method": "singletons"}`, "expected methods " + learned + ", found method singletons"},
		{"omega", "0.25", `{"correction": "none"}`, "expected corrections evidence and standardise, found correction none"},
		{"ridge", "10", `{"preprocess": "none"}`, "expected preprocess with whiten, or with auto and a method other than singletons, found preprocess none"},
		{"ridge", "10", `{"method": "singletons"}`, "expected preprocess with whiten, or with auto and a method other than singletons, found preprocess auto"},
		{"patience", "5", `{"stage": "test"}`, "expected stages dev and full, found stage test"},
	} {
		given := flagged(c.key, c.text)
		_, err := resolve(t, c.rest, given)
		var e *invalid.Error
		if !errors.As(err, &e) || !e.Usage || !strings.HasPrefix(err.Error(), given.Where+": expected ") || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %s, of the command line", given.Where, err, c.want)
		}
		text := strings.Replace(strings.Replace(c.rest, "{", `{"`+c.key+`": `+c.text+",", 1), ",}", "}", 1)
		_, err = resolve(t, text)
		if testkit.WantError(t, err, "settings.json: "+c.key+": expected ", c.want); errors.As(err, &e) && e.Usage {
			t.Errorf("%s: the error is one of the command line", text)
		}
	}
	testkit.Must(resolve(t, `{"k": 0, "psi": 0, "lr_v": 0.1, "ridge": 0}`, flagged("ridge", "0")))(t)
	ungrouped := Request{Ungrouped: true}
	testkit.NoError(t, ungrouped.Resolve(t.Context(), false))
	testkit.Equal(t, "without groups", ungrouped.Presets[0].Method.Label(), "singletons")
	testkit.Equal(t, "ridge of auto", testkit.Must(resolve(t, `{}`, flagged("ridge", "100")))(t).Ridge, 100)
}

// TestPresetsAreThoseThatTheAuthorsReleased holds each cell to the settings and the mean accuracy of the
// released run of the test stage, typed in from its metric_results.json.
func TestPresetsAreThoseThatTheAuthorsReleased(t *testing.T) {
	keys := []string{"lr", "lr_v", "beta", "lambda", "alpha", "psi", "zeta", "k"}
	for _, c := range []struct {
		dataset string
		variant model.Variant
		values  []any // of the keys
		epochs  int   // of the test stage
		percent float64
	}{
		{"cub", model.Singletons, []any{1e-4, 0.1, 0., 1e-7, 0., 0., 10., 0}, 58, 54.61},
		{"cub", model.SemanticHard, []any{1e-4, 0.1, 1e-6, 1e-4, 0., 0., 10., 0}, 55, 58.362},
		{"cub", model.KSoft, []any{3e-5, 1., 1e-5, 1e-5, 0., 0., 1., 30}, 160, 56.094},
		{"cub", model.SemanticSoft, []any{3e-5, 0.1, 1e-3, 1e-4, 0., 1e-4, 3., 0}, 100, 58.022},
		{"awa2", model.Singletons, []any{3e-6, 0.1, 1e-5, 1e-5, 0., 0., 10., 0}, 38, 63.458},
		{"awa2", model.SemanticHard, []any{3e-6, 0.1, 0., 1e-5, 0., 0., 10., 0}, 55, 61.49},
		{"awa2", model.KSoft, []any{3e-6, 0.01, 1e-4, 1e-6, 0., 0., 3., 30}, 90, 58.838},
		{"awa2", model.SemanticSoft, []any{3e-6, 0.1, 1e-3, 1e-3, 0., 1e-4, 1., 0}, 63, 64.698},
		{"sun", model.Singletons, []any{3e-5, 0.1, 1e-8, 1e-8, 0., 0., 10., 0}, 124, 57.138},
		{"sun", model.SemanticHard, []any{3e-5, 0.1, 1e-3, 1e-4, 0., 0., 10., 0}, 159, 47.206},
		{"sun", model.KSoft, []any{1e-4, 0.1, 1e-4, 0., 1., 0., 10., 40}, 39, 57.458},
		{"sun", model.SemanticSoft, []any{1e-4, 1., 1e-4, 1e-4, 0., 0., 3., 0}, 130, 48.766},
	} {
		p := PresetFor(strings.ToUpper(c.dataset), methods.Variant(c.variant))
		var values []any
		for _, key := range keys {
			values = append(values, p.Value(key))
		}
		name := fmt.Sprintf("%s on %s", c.variant, c.dataset)
		testkit.Equal(t, name, values, c.values)
		testkit.Near(t, name, 20*floats.Sum(p.Expect), c.percent, 1e-5)
		testkit.Equal(t, name, []any{p.TestEpochs(), p.Dataset, p.Preprocess, len(p.Expect), p.Check()}, []any{c.epochs, c.dataset, preprocess.None, 5, nil})
	}
	for _, v := range model.Variants { // cub127 takes the settings of CUB, and expects nothing
		want, got := PresetFor("cub", methods.Variant(v)), PresetFor("CUB127", methods.Variant(v))
		want.Dataset = "cub127"
		testkit.Equal(t, "cub127: "+string(v), got.Settings().Values(), want.Settings().Values())
		p := PresetFor("unheard-of", methods.Variant(v))
		testkit.Equal(t, "epochs and what is expected", []int{got.TestEpochs(), len(got.Expect), p.TestEpochs(), len(p.Expect)}, []int{want.TestEpochs(), 0, defaultTest, 0})
		testkit.Equal(t, "defaults", []any{p.Preprocess, p.Stage, p.Seeds, p.Check()}, []any{AutoPreprocess, DevThenTest, 5, nil})
	}
}

// The table of docs/settings.md is made from the settings; -update writes it.
func TestSettingsOfTheDocumentation(t *testing.T) {
	const path = "../../../docs/settings.md"
	placeholder := regexp.MustCompile("^`[^`]+` ")
	var b strings.Builder
	b.WriteString("| flag | key | default | valid values | applies to | meaning |\n| --- | --- | --- | --- | --- | --- |\n")
	c := Defaults(methods.Variant(model.SemanticHard))
	for _, s := range c.Settings() {
		meaning := strings.ReplaceAll(placeholder.ReplaceAllString(s.Help, ""), "|", "\\|")
		fmt.Fprintf(&b, "| `--%s` | `%s` | %s | %s | %s | %s |\n", strings.ReplaceAll(s.Key, "_", "-"), s.Key, s.DefaultText(), s.Valid, cmp.Or(s.For, "every run"), meaning)
	}
	page := testkit.Read(t, path)
	found := regexp.MustCompile(`(?m)^\| flag(.*\n)(\|.*\n)+`).FindString(page)
	if *update {
		testkit.NoError(t, os.WriteFile(path, []byte(strings.Replace(page, found, b.String(), 1)), 0o644))
	} else if diff := gocmp.Diff(b.String(), found); diff != "" {
		t.Errorf("-update writes it (-want +got):\n%s", diff)
	}
}

// The constants of docs/settings.md are those of the code, and all of some packages are there.
func TestConstantsOfTheDocumentation(t *testing.T) {
	const root = "../../../"
	listed := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `([a-z/]+)`: `(.+)` \\| (.+) \\| .* \\|$")
	for _, cells := range row.FindAllStringSubmatch(testkit.Read(t, root+"docs/settings.md"), -1) {
		values := strings.Split(cells[3], ", ")
		for i, name := range strings.Split(cells[2], "`, `") {
			listed[cells[1]+" "+name] = values[i]
		}
	}
	value := func(text string) constant.Value {
		v, _ := types.Eval(token.NewFileSet(), nil, token.NoPos, text) // of names there is none
		return v.Value
	}
	found := map[string]bool{}
	for place := range listed {
		dir, _, _ := strings.Cut(place, " ")
		if found[dir] {
			continue
		}
		found[dir] = true
		whole := slices.Contains([]string{"train/lago", "dataset/impute", "model/adapt"}, dir)
		files := testkit.Must(filepath.Glob(root + dir + "/*.go"))(t)
		for _, file := range slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") }) {
			ast.Inspect(testkit.Must(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t), func(n ast.Node) bool {
				spec, is := n.(*ast.ValueSpec)
				if !is || spec.Names[0].Obj == nil || spec.Names[0].Obj.Kind != ast.Con {
					return true
				}
				for i, expression := range spec.Values {
					place, v := dir+" "+spec.Names[i].Name, value(types.ExprString(expression))
					text, known := listed[place]
					if found[place] = true; v == nil || v.Kind() == constant.String {
						continue
					}
					if whole && !known || known && !constant.Compare(v, token.EQL, value(text)) {
						t.Errorf("docs/settings.md: constant %s is %q, %v in the code", place, text, v)
					}
				}
				return true
			})
		}
	}
	for place := range listed {
		if !found[place] {
			t.Errorf("docs/settings.md: %s is no constant of the code", place)
		}
	}
}

// What the data cannot have is refused before a folder is made, with the place of the value.
func TestSettingsThatTheDataCannotHave(t *testing.T) {
	d := &dataset.Dataset{Name: "birds", Features: dataset.NewMatrix[float32](1, 1), Attributes: make([]dataset.Attribute, 5000)}
	for text, want := range map[string]string{
		`{"method": "k-soft", "k": 5001}`: "settings.json: k: expected at most the number of attributes, 5000, found 5001",
		`{"hold_out": true}`:              "settings.json: hold_out: expected a data set with held-out samples of seen classes, found none in birds",
	} {
		testkit.WantError(t, testkit.Must(resolve(t, text))(t).CheckOn(d), want)
	}
	testkit.NoError(t, testkit.Must(resolve(t, `{"method": "k-soft", "k": 5000}`))(t).CheckOn(d))
}

// A path keeps its case; presets, names of runs and files of a search go by the folder's name.
func TestDatasetByPath(t *testing.T) {
	p := testkit.Must(resolve(t, `{"dataset": "Data/CUB"}`))(t)
	file := SearchFile("runs", p.Dataset, 1, "k-soft")
	testkit.Equal(t, "names", []string{p.Dataset, p.DataName(), file}, []string{"Data/CUB", "cub", "runs/search-cub-k-soft.json"})
	testkit.Equal(t, "published", len(p.Expect), 5)
}

func TestAutoPreprocess(t *testing.T) {
	for _, c := range []struct {
		features []float32 // of two columns; the last sample is of an unseen class
		want     string    // for semantic-hard and singletons
	}{
		{[]float32{0, 1, -2, 0}, "sqrt,l2,whiten l2"},
		{[]float32{0, -2, 1, 0}, "l2,whiten l2"},
		{[]float32{100, 201, 101, 200, 102, 202, 0, 1}, "standardize,l2,whiten standardize,l2"},
	} {
		n := len(c.features) / 2
		d := &dataset.Dataset{Features: dataset.Matrix[float32]{Rows: n, Cols: 2, Data: c.features}, Labels: make([]int, n), Classes: []string{"seen", "unseen"}}
		d.Split, d.Labels[n-1] = dataset.Split{Train: []int{0}, Test: []int{1}}, 1
		hard, alone := Defaults(methods.Variant(model.SemanticHard)), Defaults(methods.Variant(model.Singletons))
		testkit.Equal(t, fmt.Sprint(c.features), fmt.Sprint(hard.On(d).Preprocess, " ", alone.On(d).Preprocess), c.want)
		testkit.Equal(t, "none", hard.With("preprocess", preprocess.None).On(d).Preprocess, preprocess.None)
	}
}

// A baseline has its own correction, none beside published settings, and what a flag gives.
func TestCorrectionOfBaselines(t *testing.T) {
	published := PresetFor("cub", methods.Variant(model.SemanticHard)).Config
	general := GeneralFor("cub", methods.Variant(model.SemanticHard)).Config
	for _, c := range []struct {
		name   string
		common Config
		given  []string
		want   model.CorrectionKind
	}{
		{"eszsl", general, nil, model.Standardise},
		{"dap", general, nil, model.Subtract},
		{"eszsl", published, nil, model.NoCorrection},
		{"dap", published, nil, model.NoCorrection},
		{"eszsl", general.With("correction", model.NoCorrection), []string{"correction"}, model.NoCorrection},
		{"ale", published.With("correction", model.Standardise), []string{"correction", "omega"}, model.Standardise},
	} {
		testkit.Equal(t, "correction of "+c.name, testkit.Must(c.common.Baseline(c.name, c.given))(t).Correction.Kind, c.want)
	}
	_, err := general.Baseline("eszsl", []string{"correction"})
	testkit.WantError(t, err, "correction: expected one that all methods can have, found evidence, which eszsl cannot")
}
