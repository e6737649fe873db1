package xlsa17

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// cache holds the features of one file. A nil cache holds nothing.
type cache struct {
	path   string
	source source
	log    logrus.FieldLogger
}

// openCache returns the cache of a file of features, nil where nothing is cached. A
// missing cache folder is not an error, only slower.
func openCache(file string, opts Options) (*cache, error) {
	if info, err := os.Stat(file); opts.NoCache || !littleEndian || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	dir := opts.CacheDir
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			opts.Log.WithError(err).Warn("features are not cached: there is no cache folder")
			return nil, nil
		}
		dir = filepath.Join(user, "lago-train")
	}
	path := filepath.Join(dir, cacheName(file))
	log := opts.Log.WithFields(logrus.Fields{"file": file, "cache": path})
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		log.Warn("features are not cached: the cache is no regular file")
		return nil, nil
	}
	src, err := identify(file)
	if err != nil {
		return nil, invalid.File(file, err)
	}
	return &cache{path: path, source: src, log: log}, nil
}

// cacheName is readable, and differs for files of the same name in different folders.
func cacheName(file string) string {
	sum := sha256.Sum256([]byte(file))
	folder := strings.ToLower(filepath.Base(filepath.Dir(file)))
	return fmt.Sprintf("%s-%s-%s.features", folder, filepath.Base(file), hex.EncodeToString(sum[:6]))
}

// load returns the features, or nil where they must be read from the file.
func (c *cache) load(ctx context.Context) *features {
	if c == nil {
		return nil
	}
	x, err := readCache(ctx, c.path, c.source)
	switch {
	case err == nil:
		c.log.Debug("features are read from the cache")
		return x
	case errors.Is(err, fs.ErrNotExist), ctx.Err() != nil:
	case errors.Is(err, errStale):
		c.log.Info("the file has changed since its features were cached: reading it again")
	default:
		c.log.WithError(err).Warn("the cached features cannot be used: reading the file again")
	}
	return nil
}

// store writes the features. Failing to is worth a warning only: the next start is slow.
func (c *cache) store(x *features) {
	if c == nil {
		return
	}
	if err := writeCache(c.path, c.source, x); err != nil {
		c.log.WithError(err).Warn("features are not cached")
	}
}

// source identifies the state of a file: by size and time, which show nearly every
// change, and by sampled content, which shows a replacement by a tool that sets times.
// Not noticed is an edit of a file of more than 512 kB that keeps its size, restores its
// time, and lies between the samples; a checksum of the whole file would cost most of
// what the cache saves.
type source struct {
	Path    string `json:"path"` // absolute
	Size    int64  `json:"size"`
	ModTime int64  `json:"mod_time"` // nanoseconds since 1970
	Sample  string `json:"sample"`   // SHA-256 of the sampled blocks, in hex
}

// The sampled blocks are evenly spaced, one at each end.
const (
	sampleBlocks    = 16
	sampleBlockSize = 1 << 15
)

func identify(path string) (source, error) {
	f, err := os.Open(path)
	if err != nil {
		return source{}, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return source{}, err
	}
	sum := sha256.New()
	last := max(info.Size()-sampleBlockSize, 0)
	for i := range int64(sampleBlocks) {
		block := io.NewSectionReader(f, last*i/(sampleBlocks-1), sampleBlockSize)
		if _, err := io.Copy(sum, block); err != nil {
			return source{}, err
		}
	}
	return source{path, info.Size(), info.ModTime().UnixNano(), hex.EncodeToString(sum.Sum(nil))}, nil
}

// A cache file is, in little-endian order,
//
//	8 bytes      cacheMagic
//	4 bytes      CRC-32C of all that follows
//	4 bytes      length of the header
//	header       cacheHeader in JSON
//	4 x N        labels, int32, from 0
//	4 x N x D    features, float32, sample by sample
const (
	cacheMagic  = "lagofea2" // the digit is the version of the format
	cachePrefix = len(cacheMagic) + 4 + 4
	// maxCacheHeader is far above the size of any header.
	maxCacheHeader = 1 << 16
)

// cacheHeader describes the payload and what it was made from.
type cacheHeader struct {
	Source      source `json:"source"`
	Samples     int    `json:"samples"`
	Dimensions  int    `json:"dimensions"`
	FeaturesSum string `json:"features_sum"`
}

// errStale reports a cache of another state of the file.
var errStale = errors.New("made from another state of the file")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func readCache(ctx context.Context, path string, want source) (*features, error) {
	f, size, err := input.OpenRegular(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	prefix := make([]byte, cachePrefix)
	if _, err := io.ReadFull(f, prefix); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(string(prefix), cacheMagic) {
		return nil, fmt.Errorf("begins with %q, not %q", prefix[:len(cacheMagic)], cacheMagic)
	}
	sum := binary.LittleEndian.Uint32(prefix[len(cacheMagic):])
	length := binary.LittleEndian.Uint32(prefix[len(cacheMagic)+4:])
	if length > maxCacheHeader {
		return nil, fmt.Errorf("a header of %d bytes", length)
	}
	crc := crc32.New(castagnoli)
	_, _ = crc.Write(prefix[len(cacheMagic)+4:]) // a hash returns no error
	r := io.TeeReader(f, crc)
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, err
	}
	var h cacheHeader
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, err
	}
	if h.Source != want {
		return nil, errStale
	}
	// Before memory is allocated for what the header declares.
	const limit = 1 << 30 // so that the product does not overflow
	if h.Samples < 1 || h.Samples > limit || h.Dimensions < 1 || h.Dimensions > limit ||
		size != int64(cachePrefix)+int64(length)+4*int64(h.Samples)*(1+int64(h.Dimensions)) {
		return nil, fmt.Errorf("%d bytes for %d x %d features", size, h.Samples, h.Dimensions)
	}
	labels := make([]int32, h.Samples)
	x := &features{file: want.Path, values: dataset.NewMatrix[float32](h.Samples, h.Dimensions), labels: make([]int, h.Samples), sum: h.FeaturesSum}
	for _, part := range [][]byte{bytesOf(labels), bytesOf(x.values.Data)} {
		if _, err := io.ReadFull(r, part); err != nil {
			return nil, err
		}
	}
	if crc.Sum32() != sum {
		return nil, fmt.Errorf("checksum %08x, not %08x", crc.Sum32(), sum)
	}
	for i, z := range labels {
		x.labels[i] = int(z)
	}
	return x, nil
}

func writeCache(path string, src source, x *features) error {
	labels := make([]int32, len(x.labels))
	for i, z := range x.labels {
		labels[i] = int32(z)
	}
	header, err := json.Marshal(cacheHeader{src, x.values.Rows, x.values.Cols, x.sum})
	if err != nil {
		return err
	}
	parts := [][]byte{binary.LittleEndian.AppendUint32(nil, uint32(len(header))), header, bytesOf(labels), bytesOf(x.values.Data)}
	sum := uint32(0)
	for _, part := range parts {
		sum = crc32.Update(sum, castagnoli, part)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		head := binary.LittleEndian.AppendUint32([]byte(cacheMagic), sum)
		for _, part := range append([][]byte{head}, parts...) {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
}

// littleEndian is whether memory has the byte order of the cache. If not, nothing is
// cached.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf returns the memory of v as bytes, so that features are read and written in
// place: a copy of AWA2's takes 305 MB, and longer than reading them. Both types are
// plain 4-byte numbers, any bytes are valid values, and the view keeps v alive.
func bytesOf[T int32 | float32](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}
