package features

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/npy"
)

// WriteNPY writes features as a NumPy array of float32 in C order, samples x D,
// which Open gives back bit for bit. The file appears whole or not at all.
func WriteNPY(path string, x dataset.Matrix[float32]) error {
	return atomicfile.Write(path, func(w io.Writer) error { return writeNPY(w, x) })
}

func writeNPY(w io.Writer, x dataset.Matrix[float32]) error {
	if _, err := io.WriteString(w, npyHead(x.Rows, x.Cols)); err != nil {
		return err
	}
	raw := make([]byte, 4*x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			binary.LittleEndian.PutUint32(raw[4*j:], math.Float32bits(v))
		}
		if _, err := w.Write(raw); err != nil {
			return err
		}
	}
	return nil
}

// npyHead is all that precedes the values, filled up with space so that they begin
// at a multiple of 64 bytes, as programs that map files into memory want it.
func npyHead(rows, cols int) string {
	const prefix, align = len(npy.Magic) + 2 + 2, 64
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
	length := (prefix+len(text)+1+align-1)/align*align - prefix
	text += strings.Repeat(" ", length-len(text)-1) + "\n"
	return npy.Magic + "\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(length))) + text
}
