package predict

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

type csvFormat struct {
	columns
	names []string
}

func csvCell(text string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write([]string{text}); err != nil {
		panic(err) // a buffer takes all
	}
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

func (f csvFormat) head(b []byte) []byte {
	b = append(b, "sample"...)
	if f.labelled {
		b = append(b, ",true_class"...)
	}
	b = append(b, ",prediction"...)
	for i := range f.top {
		b = fmt.Appendf(b, ",class_%d,%s_%d", i+1, f.value(), i+1)
	}
	return append(b, '\n')
}

// line leaves the prediction empty where the model is unsure.
func (f csvFormat) line(b []byte, s sample) []byte {
	b = strconv.AppendInt(b, int64(s.row), 10)
	if f.labelled {
		b = append(append(b, ','), csvCell(s.class)...)
	}
	b = append(b, ',')
	if !s.unsure {
		b = append(b, f.names[s.classes[0]]...)
	}
	for i, z := range s.classes {
		b = append(append(append(b, ','), f.names[z]...), ',')
		b = number(b, s.values[i])
	}
	return append(b, '\n')
}
