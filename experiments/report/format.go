package report

import "fmt"

// Format is that of the files of pictures.
type Format string

// The formats of pictures.
const (
	SVG Format = "svg"
	PNG Format = "png"
)

// UnmarshalText reads "svg" or "png".
func (f *Format) UnmarshalText(text []byte) error {
	switch Format(text) {
	case SVG, PNG:
		*f = Format(text)
		return nil
	}
	return fmt.Errorf("expected svg or png, found %q", text)
}
