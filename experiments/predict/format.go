package predict

import (
	"fmt"
	"strconv"
)

// Format is how predictions are written.
type Format string

// The formats.
const (
	Table Format = "table" // for people
	CSV   Format = "csv"
	JSONL Format = "jsonl" // a JSON object a line
)

// UnmarshalText reads "table", "csv" or "jsonl".
func (f *Format) UnmarshalText(text []byte) error {
	switch Format(text) {
	case Table, CSV, JSONL:
		*f = Format(text)
		return nil
	}
	return fmt.Errorf("expected table, csv or jsonl, found %q", text)
}

// sample is a prediction as it is written.
type sample struct {
	row   int    // in the file or the data set, from 0
	class string // its own, where that is known
	*ranked
}

// format appends lines to a buffer.
type format interface {
	head(b []byte) []byte
	line(b []byte, s sample) []byte
}

// columns are what a line tells.
type columns struct {
	classes       []string
	top           int
	probabilities bool // else scores
	labelled      bool
}

// value names the number of a class.
func (c columns) value() string {
	if c.probabilities {
		return "probability"
	}
	return "score"
}

// number appends a probability or a score with the digits that float32 has.
func number(b []byte, v float64) []byte { return strconv.AppendFloat(b, v, 'g', 7, 32) }

// quoted are texts as a format writes them.
func quoted(texts []string, quote func(string) string) []string {
	q := make([]string, len(texts))
	for i, t := range texts {
		q[i] = quote(t)
	}
	return q
}
