package explain

import (
	"encoding/json"
	"fmt"
	"io"
)

// Format is that of an explanation.
type Format string

// The formats of explanations.
const (
	Text Format = "text"
	JSON Format = "json"
	HTML Format = "html"
)

// UnmarshalText reads "text", "json" or "html".
func (f *Format) UnmarshalText(text []byte) error {
	switch Format(text) {
	case Text, JSON, HTML:
		*f = Format(text)
		return nil
	}
	return fmt.Errorf("expected text, json or html, found %q", text)
}

// Write writes the explanation in a format; of its groups, the top ones in full where
// it is for people.
func (x *Explanation) Write(w io.Writer, f Format, top int) error {
	switch f {
	case JSON:
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(x)
	case HTML:
		return x.WriteHTML(w, top)
	}
	return x.WriteText(w, top)
}
