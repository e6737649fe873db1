package xlsa17

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
)

// A cache that is damaged is left aside and made anew.
func TestCacheDamaged(t *testing.T) {
	const payload = 4*12 + 4*24 // labels and features
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte {
			if at < 0 {
				at += len(b)
			}
			b[at] ^= 0x10
			return b
		}
	}
	cut := func(n int) func([]byte) []byte {
		return func(b []byte) []byte { return b[:(n+len(b))%len(b)] }
	}
	for name, damage := range map[string]func([]byte) []byte{
		"nothing left":            cut(0),
		"cut in the prefix":       cut(cachePrefix - 1),
		"cut after the prefix":    cut(cachePrefix),
		"cut in the header":       cut(cachePrefix + 20),
		"cut before the payload":  cut(-payload),
		"cut by a byte":           cut(-1),
		"longer by a byte":        func(b []byte) []byte { return append(b, 0) },
		"a byte of the magic":     flip(0),
		"the length":              flip(len(cacheMagic)),
		"the length, to much":     flip(len(cacheMagic) + 3),
		"the header's checksum":   flip(len(cacheMagic) + 4),
		"a byte of the header":    flip(cachePrefix + 10),
		"a label":                 flip(-payload),
		"a feature":               flip(-1),
		"something else entirely": func([]byte) []byte { return []byte("not features, but words of some length") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCached(t, newSmall())
			c.load(t)
			path, whole := c.file(t)
			if err := os.WriteFile(path, damage(bytes.Clone(whole)), 0o666); err != nil {
				t.Fatal(err)
			}
			wantSame(t, smallDataset(), c.load(t, msgUnusable))
			entry := c.hook.LastEntry()
			if entry.Level != logrus.WarnLevel || entry.Data[logrus.ErrorKey] == nil || entry.Data["cache"] != path {
				t.Errorf("the log says %v, %v", entry.Level, entry.Data)
			}
			if _, again := c.file(t); !bytes.Equal(whole, again) {
				t.Error("the cache is not made anew")
			}
			wantSame(t, smallDataset(), c.load(t, msgFromCache))
		})
	}
}

// No memory is taken for a header that no cache has.
func TestCacheHeaderOfAnyLength(t *testing.T) {
	prefix := append([]byte(cacheMagic), bytes.Repeat([]byte{0xff}, cachePrefix-len(cacheMagic))...)
	_, _, err := readCacheHeader(bytes.NewReader(prefix))
	wantError(t, err, "a header of 4294967295 bytes")
}

// someFeatures returns features that differ by seed.
func someFeatures(samples, dimensions int, seed int) *features {
	x := &features{values: dataset.NewMatrix[float32](samples, dimensions), labels: make([]int, samples), sum: fmt.Sprint("sum of ", seed)}
	for i := range x.labels {
		x.labels[i] = (i + seed) % 7
	}
	for i := range x.values.Data {
		x.values.Data[i] = float32(seed + i%1024)
	}
	return x
}

// Whatever is written is read again, and not if any one bit of it differs.
func TestCacheFileProperty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 9)
		want := someFeatures(size.Draw(t, "samples"), size.Draw(t, "dimensions"), size.Draw(t, "seed"))
		want.file = rapid.String().Draw(t, "file")
		src := source{Path: want.file, Size: rapid.Int64().Draw(t, "size"), ModTime: rapid.Int64().Draw(t, "time")}
		if err := writeCache(path, src, want); err != nil {
			t.Fatal(err)
		}
		got, err := readCache(path, src)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(features{})); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}

		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bit := rapid.IntRange(0, 8*len(content)-1).Draw(t, "bit")
		content[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readCache(path, src); err == nil || errors.Is(err, errStale) {
			t.Fatalf("bit %d of %d is turned, and the error is %v", bit, 8*len(content), err)
		}
	})
}

// A header whose checksum is right may still promise anything.
func FuzzCacheFile(f *testing.F) {
	for _, h := range []string{
		"{}", "", "null", `{"samples":1,"dimensions":1}`, `{"samples":-1,"dimensions":-1}`, `{"samples":1073741824,"dimensions":1073741824}`,
		`{"samples":2,"dimensions":3,"payload_crc":1}`, `{"source":{"path":"elsewhere"},"samples":1,"dimensions":1}`, `{"samples":"1"}`,
	} {
		f.Add([]byte(h), make([]byte, 8))
	}
	path := filepath.Join(f.TempDir(), "cache")
	f.Fuzz(func(t *testing.T, header, payload []byte) {
		content := []byte(cacheMagic)
		content = binary.LittleEndian.AppendUint32(content, uint32(len(header)))
		content = binary.LittleEndian.AppendUint32(content, crc32.Checksum(header, castagnoli))
		content = append(append(content, header...), payload...)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		x, err := readCache(path, source{})
		if err != nil {
			return
		}
		if n := 4 * (len(x.labels) + len(x.values.Data)); n != len(payload) || x.values.Rows*x.values.Cols != len(x.values.Data) {
			t.Errorf("%d bytes give %d labels and %d x %d features", len(payload), len(x.labels), x.values.Rows, x.values.Cols)
		}
		var h cacheHeader
		if err := json.Unmarshal(header, &h); err != nil || h.PayloadCRC != crc32.Checksum(payload, castagnoli) {
			t.Errorf("the payload does not have the checksum in %s: %v", header, err)
		}
	})
}

// The identity of a file is that of its content at both ends and between.
func TestIdentifySamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	then := time.Unix(1e9, 0)
	identity := func(content []byte) source {
		t.Helper()
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, then); err != nil {
			t.Fatal(err)
		}
		s, err := identify(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, size := range []int{0, 1, sampleBlockSize, 2*sampleBlockSize - 1, sampleBlocks * sampleBlockSize, 1 << 21} {
		content := make([]byte, size)
		before := identity(content)
		if diff := cmp.Diff(before, identity(content)); diff != "" {
			t.Errorf("size %d: the same file (-want +got):\n%s", size, diff)
		}
		if identity(append(content, 0)) == before {
			t.Errorf("size %d: one byte more is not seen", size)
		}
		if size == 0 {
			continue // nothing to change
		}
		for i := range sampleBlocks { // a change in each block, from the first byte of the first to the last of the last
			at := (size - 1) * i / (sampleBlocks - 1)
			content[at] ^= 1
			if identity(content) == before {
				t.Errorf("size %d: a change of byte %d is not seen", size, at)
			}
			content[at] ^= 1
		}
	}
}

// Processes that start at once may all write the cache; whichever comes last, the
// file is whole at any time, and nothing else is left.
func TestCacheWrittenByManyProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	var writers []*exec.Cmd
	for seed := range 3 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", envCacheSeed, seed), envCachePath+"="+path)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		writers = append(writers, c)
	}
	done := make(chan error, 1)
	go func() {
		var err error
		for _, c := range writers {
			err = errors.Join(err, c.Wait())
		}
		done <- err
	}()
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		x, err := readCache(path, source{})
		if errors.Is(err, os.ErrNotExist) && running {
			continue // none has written yet
		}
		if err != nil {
			t.Fatal(err)
		}
		want := someFeatures(cacheWriterSamples, cacheWriterDimensions, int(x.values.Data[0]))
		if diff := cmp.Diff(want, x, cmp.AllowUnexported(features{})); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("the cache folder has %v: %v", entries, err)
	}
}

// What a process that TestCacheWrittenByManyProcesses starts is told.
const (
	envCachePath = "LAGO_TEST_CACHE_PATH"
	envCacheSeed = "LAGO_TEST_CACHE_SEED"

	cacheWriterSamples, cacheWriterDimensions = 40, 500
)

func TestMain(m *testing.M) {
	if path := os.Getenv(envCachePath); path != "" {
		if err := writeCacheOften(path, os.Getenv(envCacheSeed)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	m.Run()
}

func writeCacheOften(path, seed string) error {
	n, err := strconv.Atoi(seed)
	if err != nil {
		return err
	}
	for range 20 {
		if err := writeCache(path, source{}, someFeatures(cacheWriterSamples, cacheWriterDimensions, n)); err != nil {
			return err
		}
	}
	return nil
}

// A start with features of AWA2's size in the cache, 306 MB, which must take less
// than half a second.
func BenchmarkStartAtTheSizeOfAWA2(b *testing.B) {
	dir := b.TempDir()
	file := filepath.Join(dir, "res101.mat")
	if err := os.WriteFile(file, make([]byte, 1<<20), 0o666); err != nil { // only identified
		b.Fatal(err)
	}
	log, _ := quietLog()
	opts := Options{CacheDir: filepath.Join(dir, "cache"), Log: log}
	c, err := openCache(file, opts)
	if err != nil {
		b.Fatal(err)
	}
	c.store(someFeatures(37322, 2048, 1))
	b.SetBytes(4 * 37322 * 2048)
	b.ReportAllocs()
	for b.Loop() {
		x, err := readFeatures(b.Context(), dir, opts)
		if err != nil {
			b.Fatal(err)
		}
		if x.values.Rows != 37322 {
			b.Fatal("the features are not those in the cache")
		}
	}
}
