package methods_test

import (
	"encoding/json"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/lago"
	"github.com/lago-train/lago-train/train/methods"
)

// specs are all methods and variants with their defaults.
func specs() []methods.Named {
	var list []methods.Named
	for _, v := range model.Variants {
		list = append(list, methods.Variant(v))
	}
	for _, e := range methods.All[1:] {
		list = append(list, e.Default())
	}
	return list
}

func marshal(t *testing.T, s methods.Named) string {
	t.Helper()
	return string(testkit.Must(json.Marshal(s))(t))
}

// Each method has a label of its own, is valid by default, and survives JSON with any searched
// value of its settings.
func TestSpecs(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range specs() {
		label := s.Label()
		testkit.NoError(t, s.Check())
		if seen[label] {
			t.Errorf("%s is the label of two methods", label)
		}
		seen[label] = true
		for _, d := range s.Settings() {
			for _, v := range d.Search {
				d.Set(v)
				testkit.NoError(t, s.Check())
				var read methods.Named
				testkit.NoError(t, json.Unmarshal([]byte(marshal(t, s)), &read))
				testkit.Equal(t, label, read.Settings().Values(), s.Settings().Values())
			}
		}
	}
}

// A clone shares no memory, and settings that make no difference do not tell two canonical specs apart.
func TestCloneAndCanonical(t *testing.T) {
	for _, s := range specs() {
		before := marshal(t, s)
		c := s.Clone()
		for _, d := range c.Settings() {
			if d.Search != nil {
				d.Set(d.Search[0])
			}
		}
		if marshal(t, s) != before || marshal(t, c) == before {
			t.Errorf("a change of the clone of %s changes the original, or nothing", s.Label())
		}
	}
	s := methods.Variant(model.SemanticHard)
	l := s.Method.(*lago.Settings)
	l.K, l.Psi, l.LRV, l.LR = 7, 1, 9, 0.5
	want := lago.New(model.SemanticHard)
	want.LR = 0.5
	testkit.Equal(t, "canonical", s.Canonical().Method.(*lago.Settings), want)
}

// Models whose descriptions an earlier program smoothed otherwise are refused; others are read as before.
func TestForm(t *testing.T) {
	for settings, refused := range map[string]bool{
		`{"variant":"semantic-hard","smoothing":0.1}`: true, `{"variant":"semantic-soft","smoothing":0.02}`: true,
		`{"variant":"semantic-hard","smoothing":0}`: false, `{"variant":"singletons","smoothing":0.1}`: false,
		`{"variant":"k-soft","smoothing":0.1}`: false,
	} {
		var s methods.Named
		err := json.Unmarshal([]byte(`{"name":"lago","settings":`+settings+`}`), &s)
		if !refused {
			testkit.NoError(t, err)
			testkit.WantNoText(t, marshal(t, s), `"form"`)
			continue
		}
		testkit.WantError(t, err, "lago: form: expected 2, found 0. Another version of the program, which smooths descriptions otherwise, trained it: train it again.")
		testkit.NoError(t, json.Unmarshal([]byte(`{"name":"lago","settings":`+settings+`,"form":2}`), &s))
		testkit.WantText(t, marshal(t, s), `"form":2`)
	}
}

// Missing settings have the defaults of the variant, wherever the variant stands.
func TestMissingSettingsHaveDefaults(t *testing.T) {
	var s methods.Named
	testkit.NoError(t, json.Unmarshal([]byte(`{"name":"lago","settings":{"lr":0.5,"variant":"k-soft"}}`), &s))
	want := lago.New(model.KSoft)
	want.LR = 0.5
	testkit.Equal(t, "read", s.Method.(*lago.Settings), want)
}

func TestBadSpecsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"svm"}`:             `method: expected one of lago, dap, ale, eszsl, `,
		`{"name":1}`:                 "cannot unmarshal number",
		`{"name":"eszsl","gamma":1}`: `unknown field "gamma"`,
		`{"name":"lago","settings":{"variant":"hard"}}`:      "lago: variant: expected one of singletons",
		`{"name":"lago","settings":{"variant":null,"lr":1}}`: "lago: variant: expected one of singletons",
	} {
		var s methods.Named
		testkit.WantError(t, json.Unmarshal([]byte(text), &s), want)
		if s.Method != nil {
			t.Errorf("%s was read as %s", text, marshal(t, s))
		}
	}
	testkit.WantError(t, methods.Named{}.Check(), `method: expected one of lago, dap,`)
}
