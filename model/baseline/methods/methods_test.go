package methods_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/baseline/methods"
)

func spec(m methods.Method) methods.Spec {
	return methods.Spec{Method: m.Name, Settings: m.Default}
}

func marshal(t *testing.T, v any) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFind(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		if found, err := methods.Find(m.Name); err != nil || found.Title != m.Title || found.Default != m.Default {
			t.Errorf("found %+v, %v; expected %+v", found, err, m)
		}
	})
	if m, err := methods.Find("ESZSL"); err != nil || m.Name != "eszsl" {
		t.Errorf("found %s, %v in upper case", m.Name, err)
	}
	_, err := methods.Find("ezsl")
	if want := `method: expected one of dap, iap, ale, eszsl, sync, sje, devise, kernel, found "ezsl". Did you mean eszsl?`; err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}

// Every field of the hyperparameters is declared as a setting, the defaults are valid, and
// each searched value is valid, differs from the others and survives JSON.
func TestSettings(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		if err := spec(m).Check(); err != nil {
			t.Error(err)
		}
		if !reflect.TypeOf(m.Default).Comparable() {
			t.Errorf("%T cannot be compared with ==", m.Default)
		}
		names := map[string]bool{}
		for _, s := range m.Default.Settings() {
			names[s.Name] = true
			var seen []methods.Spec
			for _, v := range s.Search {
				c, err := spec(m).Set(s.Name, marshal(t, v))
				if err == nil {
					err = c.Check()
				}
				if err != nil || slices.Contains(seen, c) {
					t.Errorf("%s of %v: %v, or twice", s.Name, v, err)
				}
				seen = append(seen, c)
				var read methods.Spec
				if err := json.Unmarshal(marshal(t, c), &read); err != nil || read != c {
					t.Errorf("%+v was read as %+v, %v", c, read, err)
				}
			}
			if len(seen) == 1 {
				t.Errorf("%s: one value leaves nothing to search", s.Name)
			}
		}
		for name := range spec(m).Values() {
			if !names[name] {
				t.Errorf("%s is not declared in Settings", name)
			}
			delete(names, name)
		}
		for name := range names {
			t.Errorf("%s is declared but no field", name)
		}
	})
}

// Values out of range are refused by name, for every method and setting, also numbers that
// float64 cannot hold or whose products overflow.
func TestBadValuesAreRefused(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		for name, value := range spec(m).Values() {
			bad := []string{`null`, `{}`, `[1]`}
			switch value.(type) {
			case float64:
				bad = append(bad, "-1", "1e39", "1e308", "1e400", `"many"`)
			case bool:
				bad = append(bad, "1", `"yes"`)
			case string:
				bad = append(bad, `""`, `"other"`, "1")
			}
			for _, text := range bad {
				c, err := spec(m).Set(name, json.RawMessage(text))
				if err == nil {
					err = c.Check()
				}
				wrong := (*invalid.Error)(nil)
				if !errors.As(err, &wrong) || wrong.Where != m.Name || wrong.Field != name {
					t.Errorf("%s of %s: %v, expected an error that names both", name, text, err)
				}
			}
		}
	})
}

func TestSet(t *testing.T) {
	c := methods.Spec{Method: "eszsl", Settings: eszsl.Config{Gamma: 1, Lambda: 2, Normalise: true}}
	set, err := c.Set("lambda", json.RawMessage("30"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (eszsl.Config{Gamma: 1, Lambda: 30, Normalise: true}); set.Settings != baseline.Hyperparameters(want) || set.Method != "eszsl" {
		t.Errorf("found %+v, expected %+v", set, want)
	}
	for _, wrong := range []struct{ setting, value, want string }{
		{"gamma", `"much"`, `eszsl: gamma: expected a finite number, found "much"`},
		{"gamma", "1e999", "eszsl: gamma: expected a finite number, found 1e999"},
		{"normalise", "1", "eszsl: normalise: expected true or false, found 1"},
		{"gamma", "1}", "eszsl: gamma: expected a finite number, found 1}"},
	} {
		same, err := c.Set(wrong.setting, json.RawMessage(wrong.value))
		if err == nil || err.Error() != wrong.want || same != c {
			t.Errorf("%v with %+v, expected %s", err, same, wrong.want)
		}
	}
	over, err := c.Set("gamma", json.RawMessage("1e300"))
	if err != nil {
		t.Fatal(err)
	}
	if err := over.Check(); err == nil || err.Error() != "eszsl: gamma: expected a number from 1e-18 to 1e+18, found 1e+300" {
		t.Error(err)
	}
	ale, err := methods.Find("ale")
	if err != nil {
		t.Fatal(err)
	}
	sje, err := spec(ale).Set("loss", json.RawMessage(`"sje"`))
	if err != nil {
		t.Fatal(err)
	}
	if err := sje.Check(); err == nil || err.Error() != `ale: loss: expected "ale", found "sje". Other values are other methods.` {
		t.Error(err)
	}
}

func TestUnmarshal(t *testing.T) {
	var c methods.Spec
	if err := json.Unmarshal([]byte(`{"method": "eszsl", "settings": {"gamma": 7}}`), &c); err != nil {
		t.Fatal(err)
	}
	want := eszsl.Default()
	want.Gamma = 7
	if c.Settings != baseline.Hyperparameters(want) {
		t.Errorf("found %+v, expected %+v", c.Settings, want)
	}
	for text, want := range map[string]string{
		`{"method": "svm", "settings": {}}`:                  "method: expected one of ",
		`{"settings": {}}`:                                   `found ""`,
		`{"method": "eszsl", "settings": {"ridge": 1}}`:      `eszsl: expected one of gamma, lambda, normalise, found "ridge"`,
		`{"method": "eszsl", "settings": {"gamma": "much"}}`: "eszsl: gamma: expected a finite number",
		`{"method": "eszsl"}`:                                "eszsl: settings: expected an object",
		`{"method": 1}`:                                      "method",
	} {
		var c methods.Spec
		if err := json.Unmarshal([]byte(text), &c); err == nil || !strings.Contains(err.Error(), want) || c != (methods.Spec{}) {
			t.Errorf("%s: %v with %+v, expected an error with %s", text, err, c, want)
		}
	}
}
