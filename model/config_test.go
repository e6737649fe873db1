package model_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
)

// sound is a valid Config.
var sound = model.Config{Variant: model.SemanticSoft, Prior: model.Uniform, Complement: model.Const, Zeta: 10, Alpha: 1, Beta: 1, Lambda: 1, Psi: 1}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		field string // "" if valid
		spoil func(c *model.Config)
	}{
		{"", func(*model.Config) {}},
		{"", func(c *model.Config) { c.Variant, c.K, c.Psi = model.KSoft, 3, 0 }},
		{"", func(c *model.Config) { c.Alpha, c.Beta, c.Lambda, c.Psi = 0, 0, 0, 0 }},
		{"variant", func(c *model.Config) { c.Variant = "hard" }},
		{"variant", func(c *model.Config) { c.Variant = "" }},
		{"prior", func(c *model.Config) { c.Prior = "Uniform" }},
		{"complement", func(c *model.Config) { c.Complement = "zero" }},
		{"k", func(c *model.Config) { c.Variant, c.Psi = model.KSoft, 0 }},
		{"psi", func(c *model.Config) { c.Variant = model.SemanticHard }},
	} {
		c := sound
		tt.spoil(&c)
		names(t, c.Check(), tt.field)
	}
}

// names fails unless err is an *invalid.Error on the field, which its text contains. An
// empty field means no error.
func names(t *testing.T, err error, field string) {
	t.Helper()
	if field == "" {
		if err != nil {
			t.Errorf("%v, expected no error", err)
		}
		return
	}
	var e *invalid.Error
	if !errors.As(err, &e) || e.Field != field || !strings.HasPrefix(err.Error(), ""+field+": expected ") {
		t.Errorf("the error is %v, expected one of %s", err, field)
	}
}

// Machines check their input.
func TestMachineErrors(t *testing.T) {
	s := sizes{n: 2, d: 2, m: 4, k: 2, z: 3}
	for _, tt := range []struct {
		field string
		spoil func(tr *trial[float64])
	}{
		{"variant", func(p *trial[float64]) { p.Config.Variant = "hard" }},
		{"batch", func(p *trial[float64]) { p.Batch = 0 }},
		{"descriptions", func(p *trial[float64]) {
			p.Classes = &model.Description{U: uniform(newRand(1), 3, 5, 0, 1), P: make([]float64, 5)}
		}},
		{"groups", func(p *trial[float64]) { p.Classes.Groups = p.Semantic[:3] }},
		{"k", func(p *trial[float64]) {
			p.Config = model.Config{Variant: model.KSoft, Prior: "uniform", Complement: "const", Zeta: 1, K: 5}
		}},
	} {
		t.Run(tt.field, func(t *testing.T) {
			tr := newTrial(t, sound, s, 1)
			tt.spoil(&tr)
			_, err := model.NewWMachine(tr.Config, tr.Classes, tr.params, tr.Batch)
			names(t, err, tt.field)
			_, err = model.NewVMachine(tr.Config, tr.Classes, tr.params, tr.Batch)
			names(t, err, tt.field)
			if tt.field != "batch" {
				_, err = model.NewForward(tr.Config, tr.Classes, tr.params)
				names(t, err, tt.field)
			}
		})
	}
}

// Names in JSON survive a round trip.
func TestNamesInJSON(t *testing.T) {
	for _, variant := range model.Variants {
		for _, prior := range []model.Prior{model.Uniform, model.PerAttribute} {
			for _, complement := range model.Complements {
				want := model.Config{Variant: variant, Prior: prior, Complement: complement, Zeta: 10, K: 3, Alpha: 0.5}
				text, err := json.Marshal(want)
				if err != nil {
					t.Fatal(err)
				}
				var got model.Config
				if err := json.Unmarshal(text, &got); err != nil || got != want {
					t.Errorf("%s is read as %+v, %v", text, got, err)
				}
			}
		}
	}
}

func TestUnknownNames(t *testing.T) {
	for text, want := range map[string]string{
		`{"variant": "LAGO"}`:       `expected one of singletons, semantic-hard, k-soft, semantic-soft, found "LAGO"`,
		`{"prior": "const"}`:        `expected one of uniform, per-attribute, per-group, found "const"`,
		`{"complement": "uniform"}`: `expected one of const, demorgan, none, found "uniform"`,
		`{"complement": ""}`:        `expected one of const, demorgan, none, found ""`,
	} {
		var c model.Config
		if err := json.Unmarshal([]byte(text), &c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, expected %s", text, err, want)
		}
	}
}

func TestVariants(t *testing.T) {
	for variant, want := range map[model.Variant]struct{ learned, semantic bool }{
		model.Singletons:   {false, false},
		model.SemanticHard: {false, true},
		model.KSoft:        {true, false},
		model.SemanticSoft: {true, true},
	} {
		if variant.Learned() != want.learned || variant.Semantic() != want.semantic {
			t.Errorf("%s: learned %t, semantic %t, expected %+v", variant, variant.Learned(), variant.Semantic(), want)
		}
	}
}
