package kernelalign

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/model/baseline"
)

func TestCheckNamesTheSetting(t *testing.T) {
	if err := Default().Check(); err != nil {
		t.Error(err)
	}
	if baseline.Hyperparameters(Default()) != baseline.Hyperparameters(Default()) {
		t.Error("equal settings are not equal by ==")
	}
	for _, c := range []struct {
		field  string
		change func(*Config)
	}{
		{"kernel", func(c *Config) { c.Kernel = "sigmoid" }},
		{"kernel", func(c *Config) { c.Kernel = "" }},
		{"sigma", func(c *Config) { c.Sigma = 0 }},
		{"sigma", func(c *Config) { c.Sigma = -1 }},
		{"sigma", func(c *Config) { c.Sigma = math.NaN() }},
		{"degree", func(c *Config) { c.Degree = 0 }},
		{"offset", func(c *Config) { c.Offset = -0.1 }},
		{"beta", func(c *Config) { c.Beta = -1 }},
		{"beta", func(c *Config) { c.Beta = math.Inf(1) }},
		{"orthogonality", func(c *Config) { c.Orthogonality = -1e-9 }},
		{"orthogonality", func(c *Config) { c.Orthogonality = math.NaN() }},
		{"lr", func(c *Config) { c.LR = 0 }},
		{"lr", func(c *Config) { c.LR = math.Inf(1) }},
		{"batch", func(c *Config) { c.Batch = 0 }},
	} {
		bad := Default()
		c.change(&bad)
		wantField(t, "Check", bad.Check(), c.field)
		_, err := bad.Learn(newToy(1, 0).seen, 1)
		wantField(t, "Learn", err, c.field)
		_, err = bad.Restore(nil)
		wantField(t, "Restore", err, c.field)
	}
}

// Every value of Space is one that a file can set, and those of Default are not on
// the edge of what is searched.
func TestSpace(t *testing.T) {
	settings := encode(t, Default())
	for _, axis := range Space {
		for _, v := range axis.Values {
			data, err := json.Marshal(map[string]any{axis.Setting: v})
			if err != nil {
				t.Fatal(err)
			}
			c := Default()
			d := json.NewDecoder(bytes.NewReader(data))
			d.DisallowUnknownFields()
			if err := d.Decode(&c); err != nil {
				t.Errorf("%s: %v", data, err)
			}
			if err := c.Check(); err != nil {
				t.Errorf("%s: %v", data, err)
			}
		}
		if slices.Contains([]string{"sigma", "beta", "lr"}, axis.Setting) {
			i := slices.Index(axis.Values, settings[axis.Setting])
			if i < 1 || i == len(axis.Values)-1 {
				t.Errorf("%s: the default %v is at %d of %v", axis.Setting, settings[axis.Setting], i, axis.Values)
			}
		}
	}
}

func encode(t *testing.T, c Config) (settings map[string]any) {
	t.Helper()
	data, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(data, &settings)
	}
	if err != nil {
		t.Fatal(err)
	}
	return settings
}

func TestBadExamples(t *testing.T) {
	good := newToy(1, 0).seen
	for what, c := range map[string]struct {
		field  string
		change func(*baseline.Examples)
	}{
		"no samples":    {"samples", func(e *baseline.Examples) { e.Rows, e.Labels = nil, nil }},
		"a label short": {"labels", func(e *baseline.Examples) { e.Labels = e.Labels[1:] }},
		"out of range":  {"descriptions", func(e *baseline.Examples) { e.U = matrixOf([]float64{2}); e.Labels = make([]int, len(e.Rows)) }},
	} {
		e := good
		c.change(&e)
		_, err := Default().Learn(e, 1)
		wantField(t, what, err, c.field)
	}
}
