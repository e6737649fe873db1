package protocol

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
)

// Given is the value of a setting as a user wrote it, in a flag or a config file.
type Given struct {
	Key  string
	Text string
	Flag string // as typed, --lr; "" in a file
	File string
	kind string // of JSON value, in a file
}

// at adds the place of the value to an error.
func (g Given) at(err *invalid.Error) error {
	err.Where = g.Flag
	if g.Flag == "" {
		err.Where, err.Field = g.File, g.Key
	}
	return err
}

// fingerprintKey is a key of config files that a search wrote: the fingerprint of the
// data set and split on which the settings were chosen. It is no setting.
const fingerprintKey = "fingerprint"

// set writes the value into c.
func (g Given) set(c *Config) error {
	if g.Key == fingerprintKey && g.Flag == "" {
		return nil
	}
	s, err := Find(g.Key)
	if err == nil && g.kind != "" && g.kind != s.kind() {
		err = &invalid.Error{Want: s.valid() + ", a JSON " + s.kind(), Got: strings.TrimSpace(g.kind + " " + g.Text)}
	}
	if err == nil {
		err = s.Set(c, g.Text)
	}
	if bad := (*invalid.Error)(nil); errors.As(err, &bad) {
		return g.at(bad)
	}
	return err
}

// kind names the JSON value of the setting.
func (s Setting) kind() string {
	switch s.field(new(Config)).(type) {
	case *int, *uint64, *float64:
		return "number"
	case *bool:
		return "boolean"
	}
	return "string"
}

// maxConfigBytes is far more than a config file needs.
const maxConfigBytes = 1 << 20

// ReadFile reads a config file: one JSON object of settings. Unknown keys, keys that
// occur twice, and values of a wrong type are errors.
func ReadFile(ctx context.Context, path string) ([]Given, error) {
	data, err := input.ReadFile(ctx, path, maxConfigBytes)
	if err != nil {
		return nil, err
	}
	given, err := parse(data)
	if err != nil {
		return nil, invalid.At(path, err)
	}
	for i := range given {
		given[i].File = path
		if err := given[i].set(new(Config)); err != nil {
			return nil, err
		}
	}
	return given, nil
}

// parse reads one JSON object of settings, in its order.
func parse(data []byte) ([]Given, error) {
	members, err := input.ParseObject(data)
	if err != nil {
		return nil, err
	}
	list := make([]Given, len(members))
	for i, m := range members {
		g := Given{Key: m.Key, Text: string(m.Value), kind: "number"}
		switch m.Value[0] {
		case '"':
			g.kind = "string"
			if err := json.Unmarshal(m.Value, &g.Text); err != nil {
				return nil, err
			}
		case 't', 'f':
			g.kind = "boolean"
		case 'n':
			g.kind, g.Text = "null", ""
		case '[', '{':
			g.kind, g.Text = "list or object", ""
		}
		list[i] = g
	}
	return list, nil
}

// Resolve returns the settings of a run: those that start, PresetFor or GeneralFor, has for the
// given data set and variant, with the given values over them in their order. A value that does
// not apply to the run is an error; in a file, it may repeat that of the start.
func Resolve(given []Given, start func(dataset string, v model.Variant) Preset) (Preset, error) {
	c := DefaultsOf(model.SemanticHard)
	for _, g := range given {
		if g.Key == "dataset" || g.Key == "variant" {
			if err := g.set(&c); err != nil {
				return Preset{}, err
			}
		}
	}
	p := start(c.Dataset, c.Variant)
	preset := p.Config
	for _, g := range given {
		if err := g.set(&p.Config); err != nil {
			return p, err
		}
		p.Origins[g.Key] = cmp.Or(g.Flag, g.File, fromDefault)
	}
	for _, g := range given {
		if g.Key == fingerprintKey {
			p.ChosenOn = g.Text
			continue
		}
		s, _ := Find(g.Key) // set found it
		if s.AppliesTo(p.Config) || g.Flag == "" && s.Value(p.Config) == s.Value(preset) {
			continue
		}
		return p, g.at(&invalid.Error{Want: s.For, Got: s.otherwise(p.Config)})
	}
	return p, p.Check()
}

// otherwise says why the setting does not apply to c.
func (s Setting) otherwise(c Config) string {
	for _, found := range []struct{ word, value string }{
		{"variant", string(c.Variant)}, {"preprocess", string(c.Preprocess)}, {"stage", string(c.Stage)},
	} {
		if strings.HasPrefix(s.For, found.word) {
			return found.word + " " + found.value
		}
	}
	return "another run"
}

// SearchFile returns the path of the config file that a search writes for a variant on
// a data set. Each split into train and validation classes has its own.
func SearchFile(dir, dataset string, devSplit int, v model.Variant) string {
	split := ""
	if devSplit != 1 {
		split = fmt.Sprintf("-split%d", devSplit)
	}
	return filepath.Join(dir, fmt.Sprintf("search-%s%s-%s.json", strings.ToLower(dataset), split, v))
}

// ReadSearched reads the config file that a search wrote for a variant on a data set,
// for the full protocol: stage, epochs and seeds are left out, because the file has
// them for the test stage, and hold_out, which all methods share. Without such a file, or with dir "", there is nothing.
func ReadSearched(ctx context.Context, dir, dataset string, devSplit int, v model.Variant) ([]Given, error) {
	if dir == "" {
		return nil, nil
	}
	path := SearchFile(dir, dataset, devSplit, v)
	given, err := ReadFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := Resolve(given, PresetFor)
	if err != nil {
		return nil, err
	}
	if p.Dataset != strings.ToLower(dataset) || p.Variant != v {
		return nil, &invalid.Error{
			Where: path, Want: fmt.Sprintf("settings of %s on %s", v, strings.ToLower(dataset)), Got: fmt.Sprintf("those of %s on %s", p.Variant, p.Dataset),
		}
	}
	return slices.DeleteFunc(given, func(g Given) bool {
		return slices.Contains([]string{"stage", "epochs", "seed", "seeds", "hold_out"}, g.Key)
	}), nil
}
