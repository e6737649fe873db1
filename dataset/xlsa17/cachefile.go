package xlsa17

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/atomicfile"
)

// A cache file is, all of it little-endian,
//
//	8 bytes      cacheMagic
//	4 bytes      length of the header
//	4 bytes      CRC-32C of the header
//	header       cacheHeader in JSON
//	4 x N        labels, int32, from 0
//	4 x N x D    features, float32, sample by sample
const (
	cacheMagic  = "lagofea1" // the digit is the version of the format
	cachePrefix = len(cacheMagic) + 4 + 4
	// maxCacheHeader is far above any header; a longer one is damage.
	maxCacheHeader = 1 << 16
)

// cacheHeader says what the payload was made from and what it must be.
type cacheHeader struct {
	Source      source `json:"source"`
	Samples     int    `json:"samples"`
	Dimensions  int    `json:"dimensions"`
	FeaturesSum string `json:"features_sum"`
	PayloadCRC  uint32 `json:"payload_crc"` // CRC-32C of labels and features
}

// payloadSize is the length of labels and features in bytes; ok is false for a
// header that no data set can have.
func (h cacheHeader) payloadSize() (n int64, ok bool) {
	const limit = 1 << 30 // so that n does not overflow
	if h.Samples < 1 || h.Samples > limit || h.Dimensions < 1 || h.Dimensions > limit {
		return 0, false
	}
	return 4 * int64(h.Samples) * (1 + int64(h.Dimensions)), true
}

// errStale says that a cache is sound but of another state of the source.
var errStale = errors.New("made from another state of the file")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func readCache(path string, want source) (x *features, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()

	h, length, err := readCacheHeader(f)
	if err != nil {
		return nil, err
	}
	if h.Source != want {
		return nil, errStale
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	// Before memory is taken for what the header promises.
	n, ok := h.payloadSize()
	if !ok || info.Size() != length+n {
		return nil, fmt.Errorf("%d bytes for %d x %d features", info.Size(), h.Samples, h.Dimensions)
	}
	labels := make([]int32, h.Samples)
	values := dataset.NewMatrix[float32](h.Samples, h.Dimensions)
	crc := crc32.New(castagnoli)
	r := io.TeeReader(f, crc)
	if _, err := io.ReadFull(r, bytesOf(labels)); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(r, bytesOf(values.Data)); err != nil {
		return nil, err
	}
	if crc.Sum32() != h.PayloadCRC {
		return nil, fmt.Errorf("checksum %08x, not %08x", crc.Sum32(), h.PayloadCRC)
	}
	x = &features{file: want.Path, values: values, labels: make([]int, h.Samples), sum: h.FeaturesSum}
	for i, z := range labels {
		x.labels[i] = int(z)
	}
	return x, nil
}

// readCacheHeader returns the header and the length of all that precedes the
// payload.
func readCacheHeader(r io.Reader) (h cacheHeader, length int64, err error) {
	prefix := make([]byte, cachePrefix)
	if _, err := io.ReadFull(r, prefix); err != nil {
		return h, 0, err
	}
	if magic := prefix[:len(cacheMagic)]; string(magic) != cacheMagic {
		return h, 0, fmt.Errorf("begins with %q, not %q", magic, cacheMagic)
	}
	n := binary.LittleEndian.Uint32(prefix[len(cacheMagic):])
	if n > maxCacheHeader {
		return h, 0, fmt.Errorf("a header of %d bytes", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, 0, err
	}
	if crc32.Checksum(text, castagnoli) != binary.LittleEndian.Uint32(prefix[len(cacheMagic)+4:]) {
		return h, 0, errors.New("the checksum of the header is wrong")
	}
	return h, int64(cachePrefix) + int64(n), json.Unmarshal(text, &h)
}

// writeCache writes the features whole or not at all.
func writeCache(path string, src source, x *features) error {
	labels := make([]int32, len(x.labels))
	for i, z := range x.labels {
		labels[i] = int32(z)
	}
	crc := crc32.Checksum(bytesOf(labels), castagnoli)
	crc = crc32.Update(crc, castagnoli, bytesOf(x.values.Data))
	header, err := json.Marshal(cacheHeader{
		Source:      src,
		Samples:     x.values.Rows,
		Dimensions:  x.values.Cols,
		FeaturesSum: x.sum,
		PayloadCRC:  crc,
	})
	if err != nil {
		return err
	}
	head := []byte(cacheMagic)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(header)))
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(header, castagnoli))
	head = append(head, header...)

	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		for _, part := range [][]byte{head, bytesOf(labels), bytesOf(x.values.Data)} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
}
