package predict

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

type jsonFormat struct {
	columns
	names []string
}

func jsonText(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // any string has an encoding
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (f jsonFormat) head(b []byte) []byte { return b }

// line gives null for the prediction where the model is unsure.
func (f jsonFormat) line(b []byte, s sample) []byte {
	b = append(b, `{"sample":`...)
	b = strconv.AppendInt(b, int64(s.row), 10)
	if f.labelled {
		b = append(append(b, `,"true_class":`...), jsonText(s.class)...)
	}
	b = append(b, `,"prediction":`...)
	if s.unsure {
		b = append(b, "null"...)
	} else {
		b = append(b, f.names[s.classes[0]]...)
	}
	b = append(b, `,"top":[`...)
	for i, z := range s.classes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, `{"class":`...), f.names[z]...)
		b = append(append(append(b, `,"`...), f.value()...), `":`...)
		b = append(number(b, s.values[i]), '}')
	}
	return append(b, "]}\n"...)
}
