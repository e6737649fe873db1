package atomicfile

import (
	"encoding/json"
	"io"
)

// WriteJSON writes a value as indented JSON, whole or not at all.
func WriteJSON(path string, v any) error {
	return Write(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	})
}
