package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
)

// Fingerprint returns a SHA-256 in hex of everything that training and evaluation can
// depend on: features, labels, names, groups, descriptions, split and held-out samples,
// but not Name and Source. It is the same on every machine.
func (d *Dataset) Fingerprint() string {
	sum := d.FeaturesSum
	if sum == "" {
		sum = SumFeatures(d.Features)
	}
	w := fingerprinter{sha256.New()}
	w.text(sum)
	w.ints(d.Labels)
	w.texts(d.Classes)
	w.int(len(d.Attributes))
	for _, a := range d.Attributes {
		w.text(a.Name)
		w.int(a.Group)
	}
	w.texts(d.Groups)
	w.floats(d.Descriptions)
	for _, part := range d.Split.Subsets() {
		w.ints(part.Classes)
	}
	w.ints(d.TestSeen)
	return hex.EncodeToString(w.h.Sum(nil))
}

// SumFeatures returns a SHA-256 in hex of the size of the features and their
// little-endian values. Fingerprint computes it unless FeaturesSum is set.
func SumFeatures(x Matrix[float32]) string {
	w := fingerprinter{sha256.New()}
	w.int(x.Rows)
	w.int(x.Cols)
	block := make([]byte, 4*x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			binary.LittleEndian.PutUint32(block[4*j:], math.Float32bits(v))
		}
		w.h.Write(block)
	}
	return hex.EncodeToString(w.h.Sum(nil))
}

// fingerprinter hashes values so that no two sequences of them hash the same bytes:
// everything of variable length follows its length.
type fingerprinter struct{ h hash.Hash }

func (w fingerprinter) int(v int) {
	w.h.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
}

func (w fingerprinter) ints(v []int) {
	w.int(len(v))
	for _, x := range v {
		w.int(x)
	}
}

func (w fingerprinter) text(s string) {
	w.int(len(s))
	w.h.Write([]byte(s))
}

func (w fingerprinter) texts(s []string) {
	w.int(len(s))
	for _, x := range s {
		w.text(x)
	}
}

func (w fingerprinter) floats(m Matrix[float64]) {
	w.int(m.Rows)
	w.int(m.Cols)
	for _, v := range m.Data {
		if math.IsNaN(v) {
			v = math.NaN() // all NaNs mean not described, whatever their bits
		}
		w.h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	}
}
