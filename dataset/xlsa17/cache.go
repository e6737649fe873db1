package xlsa17

import (
	"cmp"
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
)

// cache holds the features of one file. A nil cache holds nothing.
type cache struct {
	path   string
	source source
	log    logrus.FieldLogger
}

// openCache returns the cache of a file of features, nil where nothing is cached: without
// a cache folder, and if the file cannot be read, which the caller finds again.
func openCache(ctx context.Context, file string, opts Options) *cache {
	src, err := identify(ctx, file)
	if opts.NoCache || !littleEndian || err != nil {
		return nil
	}
	dir := opts.CacheDir
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			opts.Log.WithError(err).Warn("features are not cached: there is no cache folder")
			return nil
		}
		dir = filepath.Join(user, "lago-train")
	}
	path := filepath.Join(dir, cacheName(file))
	log := opts.Log.WithFields(logrus.Fields{"file": file, "cache": path})
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		log.Warn("features are not cached: the cache is no regular file")
		return nil
	}
	return &cache{path: path, source: src, log: log}
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

func identify(ctx context.Context, path string) (source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return source{}, err
	}
	f, size, err := input.OpenRegular(ctx, path)
	if err != nil {
		return source{}, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	sum := sha256.New()
	last := max(size-sampleBlockSize, 0)
	for i := range int64(sampleBlocks) {
		block := io.NewSectionReader(f, last*i/(sampleBlocks-1), sampleBlockSize)
		if _, err := io.Copy(sum, block); err != nil {
			return source{}, err
		}
	}
	return source{path, size, info.ModTime().UnixNano(), hex.EncodeToString(sum.Sum(nil))}, nil
}

// A cache file is, in little-endian order,
//
//	8 bytes      cacheMagic
//	4 bytes      CRC-32C of all that follows
//	4 bytes      length of the header
//	header       cacheHeader in JSON
//	4 x N x D    features, float32, sample by sample
const (
	cacheMagic     = "lagofea3" // the digit is the version of the format
	cachePrefix    = len(cacheMagic) + 4 + 4
	maxCacheHeader = 1 << 28 // far above that of any data set
)

// cacheHeader describes the features and what they were made from.
type cacheHeader struct {
	Source      source `json:"source"`
	Labels      []int  `json:"labels"` // from 0
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
	var start struct {
		Magic [len(cacheMagic)]byte
		Sum   uint32
	}
	crc := crc32.New(castagnoli)
	r := io.TeeReader(f, crc)
	var length uint32
	if err := cmp.Or(binary.Read(f, binary.LittleEndian, &start), binary.Read(r, binary.LittleEndian, &length)); err != nil {
		return nil, err
	}
	if string(start.Magic[:]) != cacheMagic || int64(length) > min(size, maxCacheHeader) {
		return nil, fmt.Errorf("begins with %q and a header of %d bytes", start.Magic, length)
	}
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
	rest := int(size) - cachePrefix - int(length)
	if n := len(h.Labels); n == 0 || rest <= 0 || rest%(4*n) != 0 || rest/(4*n) != h.Dimensions {
		return nil, fmt.Errorf("%d bytes for %d x %d features", rest, n, h.Dimensions)
	}
	x := &features{file: want.Path, values: dataset.NewMatrix[float32](len(h.Labels), h.Dimensions), labels: h.Labels, sum: h.FeaturesSum}
	if _, err := io.ReadFull(r, bytesOf(x.values.Data)); err != nil {
		return nil, err
	}
	if crc.Sum32() != start.Sum {
		return nil, fmt.Errorf("checksum %08x, not %08x", crc.Sum32(), start.Sum)
	}
	return x, nil
}

func writeCache(path string, src source, x *features) error {
	header, err := json.Marshal(cacheHeader{src, x.labels, x.values.Cols, x.sum})
	if err != nil {
		return err
	}
	header = append(binary.LittleEndian.AppendUint32(nil, uint32(len(header))), header...)
	values := bytesOf(x.values.Data)
	sum := crc32.Update(crc32.Checksum(header, castagnoli), castagnoli, values)
	head := binary.LittleEndian.AppendUint32([]byte(cacheMagic), sum)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		for _, part := range [][]byte{head, header, values} {
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
// place: a copy of AWA2's takes 305 MB, and longer than reading them.
func bytesOf(v []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}
