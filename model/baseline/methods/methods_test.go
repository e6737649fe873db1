package methods_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/baseline/methods"
)

// each runs a test for every method, those that are added later included.
func each(t *testing.T, test func(*testing.T, methods.Method)) {
	t.Helper()
	for _, m := range methods.All {
		t.Run(m.Name, func(t *testing.T) { test(t, m) })
	}
}

func config(m methods.Method) methods.Spec {
	return methods.Spec{Method: m.Name, Settings: m.Default}
}

func TestFind(t *testing.T) {
	if len(methods.Names()) != len(methods.All) {
		t.Errorf("%d names of %d methods", len(methods.Names()), len(methods.All))
	}
	titles := map[string]bool{}
	each(t, func(t *testing.T, m methods.Method) {
		found, err := methods.Find(m.Name)
		if err != nil || found.Title != m.Title || found.Default != m.Default { // the first of its name
			t.Errorf("found %+v, %v; expected %+v", found, err, m)
		}
		if m.Title == "" || titles[m.Title] {
			t.Errorf("the title %q is empty, or another method's", m.Title)
		}
		titles[m.Title] = true
	})
	for _, name := range []string{"", "ESZSL", "lago"} {
		_, err := methods.Find(name)
		if err == nil || !strings.Contains(err.Error(), strings.Join(methods.Names(), ", ")) {
			t.Errorf("%q: %v, expected an error that lists the methods", name, err)
		}
	}
}

func TestDefaultPassesItsCheck(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		if err := config(m).Check(); err != nil {
			t.Error(err)
		}
		if !reflect.TypeOf(m.Default).Comparable() {
			t.Errorf("%T can't be compared with ==", m.Default)
		}
	})
}

// Each axis is a setting, with values that differ and that the method takes.
func TestSpace(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		var settings []string
		for _, axis := range m.Space {
			if slices.Contains(settings, axis.Setting) {
				t.Errorf("%s has two axes", axis.Setting)
			}
			settings = append(settings, axis.Setting)
			if len(axis.Values) < 2 {
				t.Errorf("%s: %v leaves nothing to choose", axis.Setting, axis.Values)
			}
			var seen []methods.Spec
			for _, v := range axis.Values {
				c, err := config(m).Set(axis.Setting, marshal(t, v))
				if err == nil {
					err = c.Check()
				}
				if err != nil {
					t.Errorf("%s of %v: %v", axis.Setting, v, err)
				}
				if slices.Contains(seen, c) {
					t.Errorf("%s: %v is there twice", axis.Setting, v)
				}
				seen = append(seen, c)
			}
		}
	})
}

func marshal(t *testing.T, v any) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Configurations are the same after they were written and read, and by ==.
func TestConfigJSON(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		all := []methods.Spec{config(m)}
		for _, axis := range m.Space {
			for _, v := range axis.Values {
				c, err := config(m).Set(axis.Setting, marshal(t, v))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, c)
			}
		}
		for _, c := range all {
			var read methods.Spec
			if err := json.Unmarshal(marshal(t, c), &read); err != nil {
				t.Fatal(err)
			}
			if read != c {
				t.Errorf("%+v was read as %+v", c, read)
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
	if c.Settings.(eszsl.Config).Lambda != 2 {
		t.Errorf("the original changed, too: %+v", c)
	}
	for _, wrong := range []struct{ setting, value, says string }{
		{"ridge", "1", `eszsl: expected one of the settings gamma, lambda, normalise, found "ridge"`},
		{"", "1", `found ""`},
		{"gamma", `"much"`, "eszsl: gamma: expected a float64, found a string"},
		{"normalise", "1", "eszsl: normalise: expected a bool, found a number"},
		{"gamma", "1}", "eszsl: gamma: "},
	} {
		same, err := c.Set(wrong.setting, json.RawMessage(wrong.value))
		if err == nil || !strings.Contains(err.Error(), wrong.says) {
			t.Errorf("%s of %s: %v, expected an error with %s", wrong.setting, wrong.value, err, wrong.says)
		}
		if same != c {
			t.Errorf("%s of %s: found %+v beside the error, expected what was there", wrong.setting, wrong.value, same)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, wrong := range []struct{ text, says string }{
		{`{"method": "svm", "settings": {}}`, `method: expected one of `},
		{`{"settings": {}}`, `found ""`},
		{`{"method": "eszsl", "settings": {"ridge": 1}}`, `settings of eszsl: json: unknown field "ridge"`},
		{`{"method": "eszsl", "settings": {"gamma": "much"}}`, "settings of eszsl: "},
		{`{"method": "eszsl"}`, "settings of eszsl: "},
		{`{"method": 1}`, "method"},
	} {
		var c methods.Spec
		if err := json.Unmarshal([]byte(wrong.text), &c); err == nil || !strings.Contains(err.Error(), wrong.says) {
			t.Errorf("%s: %v, expected an error with %s", wrong.text, err, wrong.says)
		}
		if c != (methods.Spec{}) {
			t.Errorf("%s: read as %+v", wrong.text, c)
		}
	}
	for says, c := range map[string]methods.Spec{
		"found \"\"": {},
		"eszsl:":     {Method: "eszsl", Settings: eszsl.Config{Gamma: -1, Lambda: 1}},
	} {
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, expected an error with %s", c, err, says)
		}
	}
}

// What a file leaves out is as in the defaults.
func TestSettingsLeftOut(t *testing.T) {
	var c methods.Spec
	if err := json.Unmarshal([]byte(`{"method": "eszsl", "settings": {"gamma": 7}}`), &c); err != nil {
		t.Fatal(err)
	}
	want := eszsl.Default()
	want.Gamma = 7
	if c.Settings != baseline.Hyperparameters(want) {
		t.Errorf("found %+v, expected %+v", c.Settings, want)
	}
}
