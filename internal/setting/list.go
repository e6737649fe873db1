package setting

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// List is the settings of a configuration, in the order of flags and of JSON.
type List []Setting

// SetDefaults gives each setting its default.
func (l List) SetDefaults() {
	for _, s := range l {
		s.Set(s.Default)
	}
}

// In sets the scope of all settings.
func (l List) In(scope Scope) List {
	for i := range l {
		l[i].Scope = scope
	}
	return l
}

// Common shows all settings in the short help.
func (l List) Common() List {
	for i := range l {
		l[i].Short = true
	}
	return l
}

// Without returns the settings but those of some keys.
func (l List) Without(keys ...string) List {
	return slices.DeleteFunc(slices.Clone(l), func(s Setting) bool { return slices.Contains(keys, s.Key) })
}

// Keys lists the keys.
func (l List) Keys() []string {
	keys := make([]string, len(l))
	for i, s := range l {
		keys[i] = s.Key
	}
	return keys
}

// Find returns the setting of a key. The error is an *invalid.Error that suggests the nearest keys.
func (l List) Find(key string) (Setting, error) {
	keys := l.Keys()
	if i := slices.Index(keys, key); i >= 0 {
		return l[i], nil
	}
	e := &invalid.Error{Field: key, Want: "the name of a setting", Hint: invalid.DidYouMean(key, keys)}
	if e.Hint == "" {
		e.Want = "one of " + strings.Join(keys, ", ")
	}
	return Setting{}, e
}

// Has reports whether there is a setting of a key.
func (l List) Has(key string) bool { return slices.Contains(l.Keys(), key) }

// Check returns an *invalid.Error for the first used setting that is not valid.
func (l List) Check() error {
	for _, s := range l.Used() {
		if err := s.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Used lists the settings that make a difference.
func (l List) Used() List {
	return slices.DeleteFunc(slices.Clone(l), func(s Setting) bool { return s.Unused })
}

// Canonical gives unused settings their defaults, so that configurations with equal results are equal.
func (l List) Canonical() {
	for _, s := range l {
		if s.Unused {
			s.Set(s.Default)
		}
	}
}

// Values returns the values by key.
func (l List) Values() map[string]any {
	values := map[string]any{}
	for _, s := range l {
		values[s.Key] = s.Value()
	}
	return values
}

// CopyTo sets the settings of other that l has, too.
func (l List) CopyTo(other List) {
	for _, to := range other {
		if from, err := l.Find(to.Key); err == nil {
			to.Set(from.Value())
		}
	}
}

// MarshalJSON writes an object in the order of the list.
func (l List) MarshalJSON() ([]byte, error) {
	parts := make([]string, len(l))
	for i, s := range l {
		value, err := json.Marshal(s.Value())
		if err != nil {
			return nil, err
		}
		parts[i] = fmt.Sprintf("%q:%s", s.Key, value)
	}
	return []byte("{" + strings.Join(parts, ",") + "}"), nil
}

// Assignment is the value of a setting as a user wrote it.
type Assignment struct {
	Key   string
	Text  string
	Kind  string // of the JSON value; "" on the command line
	Where string // the file, or the flag as typed
}

// Set reads the value into the setting of its key. The error is an *invalid.Error that
// names the key, but no place.
func (l List) Set(g Assignment) error {
	s, err := l.Find(g.Key)
	if err != nil {
		return err
	}
	if g.Kind != "" && g.Kind != s.Kind() {
		text := g.Text
		if g.Kind == "string" {
			text = invalid.Quote(text)
		}
		err = &invalid.Error{
			Want: s.Valid + ", a JSON " + s.Kind(), Got: strings.TrimSpace(g.Kind + " " + text),
		}
	} else {
		err = s.Parse(g.Text)
	}
	if e := (*invalid.Error)(nil); errors.As(err, &e) {
		e.Field = g.Key
	}
	return err
}

// kinds are those of JSON values by their first byte; numbers begin with others.
var kinds = map[byte]string{
	'"': "string", 't': "boolean", 'f': "boolean", 'n': "null", '[': "list or object", '{': "list or object",
}

// ParseJSON reads one JSON object of settings, in its order. Keys that occur twice are errors.
func ParseJSON(data []byte) ([]Assignment, error) {
	members, err := fileio.ParseObject(data)
	if err != nil {
		return nil, err
	}
	list := make([]Assignment, len(members))
	for i, m := range members {
		list[i] = Assignment{Key: m.Key, Text: string(m.Value), Kind: cmp.Or(kinds[m.Value[0]], "number")}
		switch list[i].Kind {
		case "string":
			if err := json.Unmarshal(m.Value, &list[i].Text); err != nil {
				return nil, err
			}
		case "null", "list or object":
			list[i].Text = ""
		}
	}
	return list, nil
}
