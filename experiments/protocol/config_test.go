package protocol

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// writeConfig writes a config file and returns its path.
func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadConfigLeavesWhatTheFileLeavesOut(t *testing.T) {
	c := PresetFor("cub", model.KSoft).Config
	want := c
	want.LR, want.K, want.Prior, want.Stage = 0.5, 7, model.PerAttribute, OnlyDev
	if err := c.ReadConfig(writeConfig(t, `{"lr": 5e-1, "k": 7, "prior": "per-attribute", "stage": "dev"}`)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadConfigReadsAnyConfigThatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	rapid.Check(t, func(t *rapid.T) {
		want := drawConfig(t)
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got := drawConfig(t) // all of which the file replaces
		if err := got.ReadConfig(path); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// drawConfig draws a config that passes Check.
func drawConfig(t *rapid.T) Config {
	positive := rapid.Float64Range(1e-9, 1e9)
	weight := rapid.Float64Range(0, 1e9)
	c := Config{
		Dataset:    rapid.StringMatching(`[a-z0-9-]{1,9}`).Draw(t, "dataset"),
		DevSplit:   rapid.IntRange(1, 3).Draw(t, "dev_split"),
		Variant:    rapid.SampledFrom(model.Variants).Draw(t, "variant"),
		Stage:      rapid.SampledFrom([]Stages{OnlyDev, OnlyTest, DevThenTest}).Draw(t, "stage"),
		Seeds:      rapid.IntRange(1, 99).Draw(t, "seeds"),
		Seed:       rapid.Uint64().Draw(t, "seed"),
		Epochs:     rapid.IntRange(0, 999).Draw(t, "epochs"),
		LR:         positive.Draw(t, "lr"),
		LRV:        positive.Draw(t, "lr_v"),
		Beta:       weight.Draw(t, "beta"),
		Lambda:     weight.Draw(t, "lambda"),
		Alpha:      weight.Draw(t, "alpha"),
		Zeta:       positive.Draw(t, "zeta"),
		K:          rapid.IntRange(0, 99).Draw(t, "k"),
		Batch:      rapid.IntRange(1, 999).Draw(t, "batch"),
		Patience:   rapid.IntRange(1, 999).Draw(t, "patience"),
		Prior:      rapid.SampledFrom([]model.Prior{model.Uniform, model.PerAttribute}).Draw(t, "prior"),
		Complement: rapid.SampledFrom(model.Complements).Draw(t, "complement"),
		Preprocess: rapid.SampledFrom([]preprocess.Kind{preprocess.None, preprocess.Standardize, preprocess.Whiten}).Draw(t, "preprocess"),
		Ridge:      weight.Draw(t, "ridge"),
	}
	if c.Variant == model.SemanticSoft {
		c.Psi = weight.Draw(t, "psi")
	}
	return c
}

func TestReadConfigNamesTheFileAndTheKey(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"unknown key", `{"lr": 1, "learning_rate": 1}`, []string{`key "learning_rate"`, "no setting has this name"}},
		{"key of a flag", `{"lr-v": 1}`, []string{`key "lr-v"`, "no setting has this name"}},
		{"key in capitals", `{"LR": 1}`, []string{`key "LR"`, "no setting has this name"}},
		{"string for a number", `{"lr": "fast"}`, []string{`key "lr"`, "expected a number, found a string"}},
		{"fraction for a count", `{"seeds": 1.5}`, []string{`key "seeds"`, "expected a whole number", "1.5"}},
		{"negative seed", `{"seed": -1}`, []string{`key "seed"`, "expected a whole number", "-1"}},
		{"number for a name", `{"dataset": 7}`, []string{`key "dataset"`, "expected a string, found a number"}},
		{"number for a choice", `{"variant": 7}`, []string{`key "variant"`, "expected a string, found a number"}},
		{"null", `{"lr": null}`, []string{`key "lr"`, "expected a number, found null"}},
		{"null for a choice", `{"prior": null}`, []string{`key "prior"`, "expected a string, found null"}},
		{"no such variant", `{"variant": "lago"}`, []string{`key "variant"`, "singletons, semantic-hard, k-soft, semantic-soft", `"lago"`}},
		{"no such stage", `{"stage": "train"}`, []string{`key "stage"`, "dev, test, full", `"train"`}},
		{"no such prior", `{"prior": "flat"}`, []string{`key "prior"`, "uniform, per-attribute", `"flat"`}},
		{"no such complement", `{"complement": "one"}`, []string{`key "complement"`, "const, demorgan", `"one"`}},
		{"no such preprocessing", `{"preprocess": "pca"}`, []string{`key "preprocess"`, "none, standardize, whiten", `"pca"`}},
		{"more after the object", `{"lr": 1} {"lr": 2}`, []string{"expected one JSON object"}},
		{"not an object", `[1, 2]`, []string{"expected one JSON object"}},
		{"null for all", `null`, []string{"expected one JSON object"}},
		{"cut off", `{"lr": 1`, []string{"expected one JSON object"}},
		{"empty", ``, []string{"expected one JSON object"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := writeConfig(t, c.text)
			err := new(Config).ReadConfig(path)
			if err == nil {
				t.Fatalf("%s is accepted", c.text)
			}
			for _, part := range append(c.want, path) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
		})
	}
}

func TestReadConfigWithoutAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent.json")
	err := new(Config).ReadConfig(path)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, expected fs.ErrNotExist with the path", err)
	}
}

func TestCheckNamesTheSetting(t *testing.T) {
	for _, c := range []struct {
		setting string
		change  func(*Config)
	}{
		{"seeds", func(c *Config) { c.Seeds = 0 }},
		{"epochs", func(c *Config) { c.Epochs = -1 }},
		{"dev_split", func(c *Config) { c.DevSplit = 0 }},
		{"dev_split", func(c *Config) { c.DevSplit = 4 }},
		{"variant", func(c *Config) { c.Variant = "lago" }},
		{"prior", func(c *Config) { c.Prior = "" }},
		{"complement", func(c *Config) { c.Complement = "" }},
		{"zeta", func(c *Config) { c.Zeta = 0 }},
		{"k", func(c *Config) { c.Variant, c.K = model.KSoft, -1 }},
		{"alpha", func(c *Config) { c.Alpha = -1 }},
		{"beta", func(c *Config) { c.Beta = math.NaN() }},
		{"lambda", func(c *Config) { c.Lambda = math.Inf(1) }},
		{"psi", func(c *Config) { c.Psi = 1 }}, // of semantic-hard
		{"lr", func(c *Config) { c.LR = 0 }},
		{"lr", func(c *Config) { c.LR = math.Inf(1) }},
		{"lr_v", func(c *Config) { c.Variant, c.LRV = model.KSoft, math.NaN() }},
		{"batch", func(c *Config) { c.Batch = 0 }},
		{"patience", func(c *Config) { c.Patience = 0 }},
		{"ridge", func(c *Config) { c.Preprocess, c.Ridge = preprocess.Whiten, -1 }},
		{"ridge", func(c *Config) { c.Preprocess, c.Ridge = preprocess.Whiten, math.Inf(1) }},
	} {
		config := PresetFor("glyphs", model.SemanticHard).Config
		if err := config.Check(); err != nil {
			t.Fatal(err)
		}
		c.change(&config)
		if err := config.Check(); err == nil || !strings.Contains(err.Error(), c.setting+": expected") {
			t.Errorf("%s: error %v, expected one on %q in %+v", c.setting, err, c.setting, config)
		}
	}
}

func TestCheckAcceptsWhatCanBeTrained(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t)
		if err := c.Check(); err != nil {
			t.Error(err)
		}
		for _, stage := range []train.Stage{train.Dev, train.Test} {
			if name := c.Trial(stage, "", c.Seed, 1).Name(); !strings.HasPrefix(name, c.Dataset) {
				t.Errorf("folder %q, expected the name of %s first", name, c.Dataset)
			}
		}
	})
}

// TestOnlyWhatATrialUsesTellsItApart changes each setting by itself. A setting that
// is added is expected to make another trial until it is listed here.
func TestOnlyWhatATrialUsesTellsItApart(t *testing.T) {
	// The protocol decides on which trials there are, not on what one of them is;
	// the split is in the fingerprint of the data.
	protocol := []string{"DevSplit", "Stage", "Seeds", "Seed", "Epochs"}
	rapid.Check(t, func(t *rapid.T) {
		base := drawConfig(t)
		fields := reflect.VisibleFields(reflect.TypeFor[Config]())
		field := rapid.SampledFrom(fields).Draw(t, "field").Name
		stage := rapid.SampledFrom([]train.Stage{train.Dev, train.Test}).Draw(t, "trial of")
		other := base
		from := reflect.ValueOf(drawConfig(t)).FieldByName(field)
		reflect.ValueOf(&other).Elem().FieldByName(field).Set(from)
		if field == "Variant" && other.Variant != base.Variant {
			return // changes what is used
		}
		if field == "Preprocess" && other.Preprocess != base.Preprocess {
			base.Ridge, other.Ridge = 0, 0 // which whiten alone uses
		}
		used := true
		switch field {
		case "LRV":
			used = base.Variant.Learned()
		case "K":
			used = base.Variant == model.KSoft
		case "Ridge":
			used = base.Preprocess == preprocess.Whiten
		case "Patience":
			used = stage == train.Dev
		}
		for _, name := range protocol {
			used = used && name != field
		}
		differ := base.Trial(stage, "data", 1, 9).Name() != other.Trial(stage, "data", 1, 9).Name()
		if want := used && base != other; differ != want {
			t.Errorf("%s %v and %v of %s in %s: different trials: %t, expected %t", field,
				reflect.ValueOf(base).FieldByName(field), from, base.Variant, stage, differ, want)
		}
	})
}

func TestWhatARunIsMadeOfTellsItsTrialsApart(t *testing.T) {
	c := PresetFor("glyphs", model.KSoft).Config
	names := map[string]bool{}
	for _, trial := range []train.Trial{
		c.Trial(train.Dev, "data", 1, 9),
		c.Trial(train.Test, "data", 1, 9),
		c.Trial(train.Dev, "other data", 1, 9),
		c.Trial(train.Dev, "data", 2, 9),
		c.Trial(train.Dev, "data", 1, 8),
	} {
		names[trial.Name()] = true
	}
	for _, v := range model.Variants {
		c.Variant = v
		names[c.Trial(train.Dev, "data", 3, 9).Name()] = true
	}
	if len(names) != 5+len(model.Variants) {
		t.Errorf("%d folders, expected one for each of %d trials: %v", len(names), 5+len(model.Variants), names)
	}
}
