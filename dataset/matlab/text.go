package matlab

import (
	"fmt"
	"unicode/utf16"
)

const (
	maxDepth = 16       // of cell arrays within each other
	maxText  = 64 << 20 // bytes of text of a variable
)

// text reads the data of a char array, one string per row. An empty array is one empty
// string.
func (s *stream) text(m matrix) ([]string, error) {
	n, err := s.count(m)
	if err != nil {
		return nil, err
	}
	if len(m.Dims) != 2 {
		return nil, s.unsupported("text of two dimensions", formatDims(m.Dims))
	}
	e, err := s.element(m.end)
	if err != nil {
		return nil, err
	}
	if s.textSize += e.size; s.textSize > maxText {
		return nil, s.unexpected(fmt.Sprintf("at most %d bytes of text", maxText), "more")
	}
	data, err := s.bytes(e, m.end)
	if err != nil {
		return nil, err
	}
	chars, err := s.chars(e.kind, data)
	if err != nil {
		return nil, err
	}
	if int64(len(chars)) != n {
		chars = utf16Units(chars) // MATLAB counts a character beyond the first 65536 as two
	}
	if int64(len(chars)) != n {
		return nil, s.unexpected(fmt.Sprintf("%d characters (%s)", n, formatDims(m.Dims)), "%d", len(chars))
	}
	if n == 0 {
		return []string{""}, nil
	}
	rows := make([]string, m.Dims[0])
	row := make([]rune, m.Dims[1])
	for i := range rows {
		for j := range row {
			row[j] = chars[i+j*len(rows)]
		}
		rows[i] = joinPairs(row)
	}
	return rows, nil
}

// chars decodes the characters of an element. Of those stored in 16-bit units, a
// surrogate pair stays two runes.
func (s *stream) chars(kind uint32, data []byte) ([]rune, error) {
	width := map[uint32]int{kindInt8: 1, kindUint8: 1, kindUint16: 2, kindUTF16: 2, kindUTF32: 4}[kind]
	switch {
	case kind == kindUTF8:
		return []rune(string(data)), nil
	case width == 0:
		return nil, s.unexpected("text", "an element of type %d", kind)
	case len(data)%width != 0:
		return nil, s.unexpected(fmt.Sprintf("characters of %d bytes", width), "%d bytes", len(data))
	}
	chars := make([]rune, len(data)/width)
	for i := range chars {
		switch c := data[i*width:]; width {
		case 1:
			chars[i] = rune(c[0])
		case 2:
			chars[i] = rune(s.order.Uint16(c))
		case 4:
			chars[i] = rune(s.order.Uint32(c))
		}
	}
	return chars, nil
}

// utf16Units returns the 16-bit units of a text, one per rune.
func utf16Units(chars []rune) []rune {
	var units []rune
	for _, u := range utf16.Encode(chars) {
		units = append(units, rune(u))
	}
	return units
}

// joinPairs returns the text of runes that may be halves of surrogate pairs.
func joinPairs(chars []rune) string {
	units := make([]uint16, 0, len(chars))
	for _, c := range chars {
		if utf16.IsSurrogate(c) {
			units = append(units, uint16(c))
		} else {
			units = utf16.AppendRune(units, c)
		}
	}
	return string(utf16.Decode(units))
}

// cells appends the strings in a cell array.
func (s *stream) cells(m matrix, strings []string, depth int) ([]string, error) {
	if depth > maxDepth {
		return nil, s.unexpected(fmt.Sprintf("cell arrays at most %d deep", maxDepth), "a deeper one")
	}
	n, err := s.count(m)
	if err != nil {
		return nil, err
	}
	if left := m.end - s.pos; n > left/tagSize {
		return nil, s.unexpected(fmt.Sprintf("at most %d cells in the %d bytes left", left/tagSize, left), "%d (%s)", n, formatDims(m.Dims))
	}
	for range n {
		e, err := s.element(m.end)
		if err != nil {
			return nil, err
		}
		if e.kind != kindMatrix {
			return nil, s.unexpected("an array in a cell", "an element of type %d", e.kind)
		}
		if e.size == 0 {
			strings = append(strings, "")
			continue
		}
		if strings, err = s.cell(s.pos+e.size, strings, depth); err != nil {
			return nil, err
		}
	}
	return strings, nil
}

// cell appends the strings in a cell that ends at end.
func (s *stream) cell(end int64, strings []string, depth int) ([]string, error) {
	m, err := s.header(end)
	if err != nil {
		return nil, err
	}
	n, _ := elements(m.Dims)
	switch {
	case m.Class == Char:
		var rows []string
		rows, err = s.text(m)
		strings = append(strings, rows...)
	case m.Class == Cell:
		strings, err = s.cells(m, strings, depth+1)
		if n == 0 {
			strings = append(strings, "")
		}
	case m.Class.numeric() && !m.complex && n == 0:
		_, err = s.numbers(m)
		strings = append(strings, "")
	default:
		return nil, s.unsupported("text in a cell", m.Header.String())
	}
	if err == nil {
		err = s.finish(end)
	}
	return strings, err
}
