package fileio

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Member is a key of a JSON object with its value.
type Member struct {
	Key   string
	Value json.RawMessage
}

// ParseObject returns the members of one JSON object in their order. It refuses duplicate
// keys and text that is not Unicode, which encoding/json accepts. Errors are *invalid.Error without a place.
func ParseObject(data []byte) ([]Member, error) {
	if err := checkText(data); err != nil {
		return nil, err
	}
	var unseen map[string]json.RawMessage
	if err := json.Unmarshal(data, &unseen); unseen == nil {
		e := &invalid.Error{Want: "one JSON object", Got: "another JSON value"}
		if syntax := (*json.SyntaxError)(nil); len(bytes.TrimSpace(data)) == 0 {
			e.Got = "nothing"
		} else if errors.As(err, &syntax) {
			line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
			e.Got = fmt.Sprintf("a syntax error in line %d", line)
		}
		return nil, e
	}
	d := json.NewDecoder(bytes.NewReader(data))
	_, err := d.Token()
	list := make([]Member, 0, len(unseen))
	for d.More() && err == nil {
		key, _ := d.Token()
		m := Member{Key: fmt.Sprint(key)}
		if _, ok := unseen[m.Key]; !ok {
			return nil, &invalid.Error{Field: m.Key, Want: "each key once", Got: "it twice"}
		}
		delete(unseen, m.Key)
		err = d.Decode(&m.Value)
		list = append(list, m)
	}
	return list, err
}

// WriteJSON writes a value as indented JSON, as Write does.
func WriteJSON(path string, v any) error {
	return Write(path, func(w io.Writer) error { return format.WriteJSON(w, v) })
}

// sealKey begins the last member of a sealed object in compact JSON: the SHA-256, in hex, of
// the compact JSON of the object without this member.
const sealKey = `,"sha256":"`

// WriteSealed writes a value as WriteJSON does, with a checksum as its last member. The value
// must be an object with at least one member.
func WriteSealed(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	seal := fmt.Sprintf(`%s%x"}`, sealKey, sha256.Sum256(text))
	return WriteJSON(path, json.RawMessage(append(text[:len(text)-1], seal...)))
}

// DecodeSealed reads what WriteSealed wrote. Other content, and keys that v does not have, are
// errors: an *invalid.Error, or that of encoding/json.
func DecodeSealed(data []byte, v any) error {
	var text bytes.Buffer
	if err := json.Compact(&text, data); err != nil {
		return err
	}
	at := bytes.LastIndex(text.Bytes(), []byte(sealKey)) // the content may have the same key
	if at < 0 {
		return &invalid.Error{Field: "sha256", Want: "the checksum of the content", Got: "none"}
	}
	content, seal := append(bytes.Clone(text.Bytes()[:at]), '}'), text.Bytes()[at:]
	if string(seal) != fmt.Sprintf(`%s%x"}`, sealKey, sha256.Sum256(content)) {
		return &invalid.Error{Field: "sha256", Want: "the checksum of the content", Got: "another", Hint: "The file was changed or is damaged."}
	}
	return Unmarshal(content, v)
}

// Unmarshal parses JSON as encoding/json does, but keys that v does not have and text that is not
// Unicode are errors.
func Unmarshal(data []byte, v any) error {
	if err := checkText(data); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return &invalid.Error{Want: "the end after one JSON value", Got: "more"}
	}
	return nil
}

// escape matches escapes in JSON, in a group half of a surrogate pair.
var escape = regexp.MustCompile(`\\[^u]|\\u[dD][89abAB]..\\u[dD][c-fC-F]|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})`)

// checkText returns an error for what encoding/json would replace.
func checkText(data []byte) error {
	e := &invalid.Error{Want: "text in Unicode"}
	if !utf8.Valid(data) {
		e.Got = "bytes that are not UTF-8"
	}
	for _, found := range escape.FindAllSubmatch(data, -1) {
		if found[1] != nil {
			e.Got = fmt.Sprintf("half of a surrogate pair, %s", found[1])
		}
	}
	if e.Got == "" {
		return nil
	}
	return e
}
