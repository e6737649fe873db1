package fileio

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"

	"github.com/lago-train/lago-train/internal/invalid"
)

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

// Unmarshal parses JSON as encoding/json does, but keys that v does not have are errors.
func Unmarshal(data []byte, v any) error {
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
