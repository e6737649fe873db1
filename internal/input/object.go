package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lago-train/lago-train/internal/invalid"
)

// Member is a key of a JSON object with its value.
type Member struct {
	Key   string
	Value json.RawMessage
}

// ParseObject returns the members of one JSON object in their order. It refuses duplicate
// keys, which encoding/json accepts. Errors are *invalid.Error without a place.
func ParseObject(data []byte) ([]Member, error) {
	notObject := func(found string) error { return &invalid.Error{Want: "one JSON object", Got: found} }
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, notObject("nothing")
	}
	if syntax := (*json.SyntaxError)(nil); errors.As(json.Unmarshal(data, new(json.RawMessage)), &syntax) {
		line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
		return nil, notObject(fmt.Sprintf("a syntax error in line %d", line))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, notObject("another JSON value")
	}
	var list []Member
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := Member{Key: fmt.Sprint(key)}
		if err := d.Decode(&m.Value); err != nil {
			return nil, err
		}
		if seen[m.Key] {
			return nil, &invalid.Error{Field: m.Key, Want: "each key once", Got: "it twice"}
		}
		seen[m.Key] = true
		list = append(list, m)
	}
	return list, nil
}
