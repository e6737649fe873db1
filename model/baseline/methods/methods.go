package methods

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/dap"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/baseline/kernelalign"
	"github.com/lago-train/lago-train/model/baseline/ranking"
	"github.com/lago-train/lago-train/model/baseline/synclassifier"
)

// Method is one that LAGO is compared with.
type Method struct {
	Name  string // on the command line
	Title string // in the paper's tables
	// Default are the settings where none are searched.
	Default baseline.Hyperparameters
	// Space are the settings that are worth searching.
	Space []baseline.Axis
	// FullGrid says that settings are tried in little time, one after the other, so
	// that there is no reason not to try all of Space.
	FullGrid bool
	// Seeded says that there is something random in the training.
	Seeded bool
}

// All lists the methods in the order of table 1 of the paper.
var All = []Method{
	{Name: "dap", Title: "DAP", Default: dap.Default(dap.Direct), Space: dap.Space, FullGrid: true},
	{Name: "iap", Title: "IAP", Default: dap.Default(dap.Indirect), Space: dap.Space, FullGrid: true},
	{Name: "ale", Title: "ALE", Default: ranking.Default(ranking.ALE), Space: ranking.Space(ranking.ALE), Seeded: true},
	{Name: "eszsl", Title: "ESZSL", Default: eszsl.Default(), Space: eszsl.Space, FullGrid: true},
	{Name: "sync", Title: "SYNC", Default: synclassifier.Default(), Space: synclassifier.Space, FullGrid: true},
	{Name: "sje", Title: "SJE", Default: ranking.Default(ranking.SJE), Space: ranking.Space(ranking.SJE), Seeded: true},
	{Name: "devise", Title: "DEVISE", Default: ranking.Default(ranking.DeViSE), Space: ranking.Space(ranking.DeViSE), Seeded: true},
	{Name: "kernel", Title: "ZHANG2018", Default: kernelalign.Default(), Space: kernelalign.Space, Seeded: true},
}

// Names lists the names of All.
func Names() []string {
	names := make([]string, len(All))
	for i, m := range All {
		names[i] = m.Name
	}
	return names
}

// Find returns the method of a name.
func Find(name string) (Method, error) {
	for _, m := range All {
		if m.Name == name {
			return m, nil
		}
	}
	return Method{}, fmt.Errorf("method: expected one of %s, found %q", strings.Join(Names(), ", "), name)
}

// Spec is a method and its settings. The zero value is no method. Two of them
// are equal by == where they are the same.
type Spec struct {
	Method   string                   `json:"method"`
	Settings baseline.Hyperparameters `json:"settings"`
}

// Check returns an error for a method that is not known, or its first setting that
// won't do.
func (c Spec) Check() error {
	if _, err := Find(c.Method); err != nil {
		return err
	}
	if err := c.Settings.Check(); err != nil {
		return fmt.Errorf("%s: %w", c.Method, err)
	}
	return nil
}

// Set returns c with one setting changed. The error names the setting.
func (c Spec) Set(setting string, value json.RawMessage) (Spec, error) {
	all, err := c.settings()
	if err != nil {
		return c, err
	}
	if _, ok := all[setting]; !ok {
		return c, fmt.Errorf("%s: expected one of the settings %s, found %q",
			c.Method, strings.Join(slices.Sorted(maps.Keys(all)), ", "), setting)
	}
	all[setting] = value
	data, err := json.Marshal(all)
	if err != nil {
		return c, fmt.Errorf("%s: %s: %w", c.Method, setting, err)
	}
	settings, err := decode(c.Settings, data)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return c, fmt.Errorf("%s: %s: expected a %s, found a %s", c.Method, setting, wrong.Type, wrong.Value)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %s: %w", c.Method, setting, err)
	}
	c.Settings = settings
	return c, nil
}

// Values are the settings of c by name.
func (c Spec) Values() map[string]any {
	data, err := json.Marshal(c.Settings)
	if err != nil {
		panic("methods: settings do not marshal: " + err.Error()) // which Check refuses
	}
	var values map[string]any
	if err := json.Unmarshal(data, &values); err != nil {
		panic("methods: settings are no object: " + err.Error())
	}
	return values
}

// settings are those of c as JSON, by name.
func (c Spec) settings() (map[string]json.RawMessage, error) {
	data, err := json.Marshal(c.Settings)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	return all, json.Unmarshal(data, &all)
}

// decode reads settings of the type of like.
func decode(like baseline.Hyperparameters, data []byte) (baseline.Hyperparameters, error) {
	to := reflect.New(reflect.TypeOf(like))
	to.Elem().Set(reflect.ValueOf(like))
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to.Interface()); err != nil {
		return nil, err
	}
	return to.Elem().Interface().(baseline.Hyperparameters), nil
}

// UnmarshalJSON reads the settings as those of the method.
func (c *Spec) UnmarshalJSON(data []byte) error {
	var named struct {
		Method   string          `json:"method"`
		Settings json.RawMessage `json:"settings"`
	}
	if err := json.Unmarshal(data, &named); err != nil {
		return err
	}
	m, err := Find(named.Method)
	if err != nil {
		return err
	}
	settings, err := decode(m.Default, named.Settings)
	if err != nil {
		return fmt.Errorf("settings of %s: %w", named.Method, err)
	}
	*c = Spec{named.Method, settings}
	return nil
}
