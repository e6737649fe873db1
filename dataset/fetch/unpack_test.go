package fetch

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entry is one of an archive that a test makes. If declared is set, the archive lies
// about the length of the content.
type entry struct {
	name     string
	content  string
	mode     fs.FileMode
	method   uint16
	flags    uint16
	declared uint64
}

// archiveOf returns the bytes of an archive.
func archiveOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: e.method, Flags: e.flags}
		h.SetMode(e.mode)
		create := w.CreateHeader
		if e.declared != 0 || e.flags != 0 || e.method > zip.Deflate {
			create = w.CreateRaw
			h.CRC32 = crc32.ChecksumIEEE([]byte(e.content))
			h.CompressedSize64, h.UncompressedSize64 = uint64(len(e.content)), max(e.declared, uint64(len(e.content)))
			if e.declared != 0 {
				h.UncompressedSize64 = e.declared
			}
		}
		to, err := create(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// place is a folder of a test: an archive, and the folder to unpack it into.
type place struct{ root, archive, dir string }

func placeOf(t testing.TB, archive []byte) place {
	t.Helper()
	root := t.TempDir()
	p := place{root, filepath.Join(root, "archive.zip"), filepath.Join(root, "into")}
	put(t, p.archive, string(archive))
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// unpack unpacks the entries with harmless names, as those of the layout are.
func (p place) unpack(t testing.TB, l limits, progress func(Progress)) (map[string]int64, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sizes := make(map[string]int64)
	m := &meter{ctx: ctx, progress: func(p Progress) {
		if progress != nil {
			progress(p)
			cancel()
		}
	}}
	err := unpack(p.archive, p.dir, l, sizes, m, func(name string) (string, bool) {
		return name, fs.ValidPath(name) && name != "." && !strings.ContainsAny(name, "\\\x00")
	})
	if diff := cmp.Diff([]string{"archive.zip", "into"}, names(t, p.root)); diff != "" {
		t.Errorf("outside of the folder (-want +got):\n%s", diff)
	}
	return sizes, err
}

// files returns what is in the folder, by paths with slashes.
func (p place) files(t testing.TB) map[string]string {
	t.Helper()
	found := make(map[string]string)
	dir := os.DirFS(p.dir)
	err := fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			t.Errorf("%s is no regular file but %v", path, d.Type())
		}
		content, err := fs.ReadFile(dir, path)
		found[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var small = limits{bytes: 1000, ratio: 50, entries: 20}

func TestUnpack(t *testing.T) {
	long := strings.Repeat("abcdefgh", 50)
	p := placeOf(t, archiveOf(t,
		entry{name: "folder/"},
		entry{name: "res101.mat", content: long, mode: 0o777 | fs.ModeSetuid},
		entry{name: "meta/classes.txt", content: "1 a", method: zip.Deflate},
		entry{name: "empty.txt"},
		entry{name: `release\code\run.m`, content: "not wanted"},
	))
	sizes, err := p.unpack(t, small, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{"res101.mat": 400, "meta/classes.txt": 3, "empty.txt": 0}, sizes); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"res101.mat": long, "meta/classes.txt": "1 a", "empty.txt": ""}, p.files(t)); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(p.dir, "res101.mat")); err != nil || info.Mode()&(0o111|fs.ModeSetuid) != 0 {
		t.Errorf("the file has the mode %v of the archive (%v)", info.Mode(), err)
	}
	if _, err := p.unpack(t, small, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v, expected that the files exist", err)
	}
}

func TestHostileArchivesAreRefused(t *testing.T) {
	zeros := strings.Repeat("\x00", 900)
	wide := make([]entry, 15)
	for i := range wide {
		wide[i].name = fmt.Sprintf("%d%s", i, strings.Repeat("x", 60_000))
	}
	good := archiveOf(t, entry{name: "a", content: strings.Repeat("content", 100)})
	flipped := bytes.Clone(good)
	flipped[100]++
	for _, c := range []struct {
		name    string
		archive []byte
		parts   []string // of the error
	}{
		{"path upwards", archiveOf(t, entry{name: "../evil"}), []string{`"../evil"`, "leaves it"}},
		{"path upwards in the middle", archiveOf(t, entry{name: "a/../../evil"}), []string{"leaves it"}},
		{"path that comes back", archiveOf(t, entry{name: "a/../evil"}), []string{"leaves it"}},
		{"path that ends upwards", archiveOf(t, entry{name: "a/.."}), []string{"leaves it"}},
		{"absolute path", archiveOf(t, entry{name: "/tmp/evil"}), []string{`"/tmp/evil"`, "leaves it"}},
		{"path of Windows upwards", archiveOf(t, entry{name: `..\evil`}), []string{"leaves it"}},
		{"drive", archiveOf(t, entry{name: "C:evil"}), []string{"leaves it"}},
		{"share", archiveOf(t, entry{name: `\\host\evil`}), []string{"leaves it"}},
		{"NUL", archiveOf(t, entry{name: "a\x00b"}), []string{"leaves it"}},
		{"hostile name beside a good one", archiveOf(t, entry{name: "a"}, entry{name: "../evil"}), []string{"leaves it"}},
		{"symbolic link", archiveOf(t, entry{name: "a", content: "/etc", mode: fs.ModeSymlink}), []string{"expected a regular file, found mode L"}},
		{"device", archiveOf(t, entry{name: "a", mode: fs.ModeDevice}), []string{"expected a regular file"}},
		{"pipe", archiveOf(t, entry{name: "a", mode: fs.ModeNamedPipe}), []string{"expected a regular file"}},
		{"folder without a slash", archiveOf(t, entry{name: "a", mode: fs.ModeDir}), []string{"expected a regular file"}},
		{"name twice", archiveOf(t, entry{name: "a", content: "1"}, entry{name: "a", content: "2"}), []string{"expected one entry for a"}},
		{"encrypted", archiveOf(t, entry{name: "a", content: "x", flags: 1}), []string{"an encrypted one"}},
		{"bomb by ratio", archiveOf(t, entry{name: "a", content: zeros + zeros[:99], method: zip.Deflate}), []string{"at most 50 times", "found 999"}},
		{"bomb by size", archiveOf(t, entry{name: "a", content: zeros + zeros}), []string{"at most 1000 bytes", "1800"}},
		{"bomb by many files", archiveOf(t, entry{name: "a", content: zeros}, entry{name: "b", content: zeros}), []string{"at most 1000 bytes in all"}},
		{"compressed length that lies", longCompressed(t), []string{"compressed bytes within the archive's", "1048576"}},
		{"length that lies low", archiveOf(t, entry{name: "a", content: zeros, declared: 10}), []string{`entry "a"`}},
		{"length that lies high", archiveOf(t, entry{name: "a", content: zeros, declared: 950}), []string{"unexpected EOF"}},
		{"length of all bits", archiveOf(t, entry{name: "a", content: "x", declared: 1<<64 - 1}), []string{"at most 1000 bytes", "18446744073709551615"}},
		{"unknown method", archiveOf(t, entry{name: "a", content: "x", method: 99}), []string{"unsupported compression"}},
		{"many entries", archiveOf(t, make([]entry, 21)...), []string{"at most 20 entries"}},
		{"long directory", archiveOf(t, wide...), []string{"at most 20 entries"}},
		{"long name with control characters", archiveOf(t, entry{name: "../\x1b[31m" + strings.Repeat("x", 60_000)}), []string{`\x1b[31m`}},
		{"empty", nil, nil},
		{"page", []byte("<!DOCTYPE html><html>not found</html>"), nil},
		{"cut", good[:len(good)-30], nil},
		{"another byte", flipped, []string{"checksum"}},
		{"end alone", good[len(good)-22:], nil},
		{"first half", good[:len(good)/2], nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := placeOf(t, c.archive)
			_, err := p.unpack(t, small, nil)
			if !errors.Is(err, errArchive) {
				t.Fatalf("error %v, expected errArchive", err)
			}
			wantError(t, err, append(c.parts, p.archive)...)
			if len(err.Error()) > 1000 {
				t.Errorf("the error has %d characters", len(err.Error()))
			}
		})
	}
}

// The memory for a directory is bounded by the limit, not by the entries that the end of
// the directory claims.
func TestClaimedEntriesTakeNoMemory(t *testing.T) {
	const size, claimed = 1 << 30, 1 << 24
	var end bytes.Buffer
	for _, v := range []any{
		[]byte("PK\x06\x06"), uint64(44), uint16(45), uint16(45), uint32(0), uint32(0), uint64(claimed), uint64(claimed), uint64(0), uint64(size),
		[]byte("PK\x06\x07"), uint32(0), uint64(size), uint32(1),
		[]byte("PK\x05\x06"), uint16(0), uint16(0), uint16(1<<16 - 1), uint16(1<<16 - 1), uint32(0), uint32(1<<32 - 1), uint16(0),
	} {
		if err := binary.Write(&end, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	p := placeOf(t, nil)
	f, err := os.OpenFile(p.archive, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(end.Bytes(), size) // a hole before it takes no disk space
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = p.unpack(t, small, nil)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, errArchive) {
		t.Errorf("error %v, expected errArchive", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

// Entries whose compressed bytes are the same ones: each looks modest.
func TestBombOfSharedBytesIsRefused(t *testing.T) {
	random := make([]byte, 2000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random) // never fails
	b := archiveOf(t, entry{name: "_", content: strings.Repeat(string(random), 4), method: zip.Deflate})
	// In the directory, the entry stands many times under different names.
	end := bytes.LastIndex(b, []byte("PK\x05\x06"))
	from := int(binary.LittleEndian.Uint32(b[end+16:]))
	const names = "abcdefghijklmnopqrstuvwxyz"
	bomb := bytes.Clone(b[:from])
	for i := range names {
		at := len(bomb)
		bomb = append(bomb, b[from:end]...)
		bomb[at+46] = names[i]
	}
	bomb = append(bomb, b[end:]...)
	tail := bomb[len(bomb)-22:]
	binary.LittleEndian.PutUint16(tail[8:], uint16(len(names)))
	binary.LittleEndian.PutUint16(tail[10:], uint16(len(names)))
	binary.LittleEndian.PutUint32(tail[12:], uint32(len(names)*(end-from)))
	_, err := placeOf(t, bomb).unpack(t, limits{1 << 20, 10, 100}, nil)
	wantError(t, err, "at most 10 times the archive's", "208000")
}

// longCompressed returns a bomb that passes its ratio by a false compressed length.
func longCompressed(t *testing.T) []byte {
	t.Helper()
	b := archiveOf(t, entry{name: "a", content: strings.Repeat("\x00", 900), method: zip.Deflate})
	end := bytes.LastIndex(b, []byte("PK\x05\x06"))
	record := b[binary.LittleEndian.Uint32(b[end+16:]):]
	binary.LittleEndian.PutUint32(record[20:], 1<<20)
	return b
}

// A link in the folder leads no write outside.
func TestUnpackFollowsNoLinkOutside(t *testing.T) {
	p := placeOf(t, archiveOf(t, entry{name: "meta/a", content: "x"}))
	if err := os.Symlink(p.root, filepath.Join(p.dir, "meta")); err != nil {
		t.Skip(err)
	}
	if _, err := p.unpack(t, small, nil); err == nil {
		t.Error("no error")
	}
}

func TestUnpackEndsWithItsContext(t *testing.T) {
	p := placeOf(t, archiveOf(t, entry{name: "a", content: strings.Repeat("abcdefgh", 1<<17)}))
	_, err := p.unpack(t, limits{1 << 21, 50, 20}, func(Progress) {})
	if !errors.Is(err, context.Canceled) || errors.Is(err, errArchive) {
		t.Errorf("error %v, expected context.Canceled", err)
	}
	if n := len(p.files(t)["a"]); n > 1<<17 {
		t.Errorf("%d bytes were written after the end", n)
	}
}

func TestSystemErrorsAreNotTheArchives(t *testing.T) {
	p := placeOf(t, archiveOf(t, entry{name: "a"}))
	for _, wrong := range []place{
		{p.root, filepath.Join(p.root, "absent"), p.dir},
		{p.root, p.archive, filepath.Join(p.root, "absent")},
		{p.root, p.dir, p.dir}, // a folder instead of the archive
	} {
		if _, err := wrong.unpack(t, small, nil); err == nil || errors.Is(err, errArchive) {
			t.Errorf("%v: error %v, expected one of the system", wrong, err)
		}
	}
}

// Whatever the bytes are, nothing is written outside of the folder, nor more than the
// limits allow.
func FuzzUnpack(f *testing.F) {
	for _, entries := range [][]entry{
		{{name: "CUB/res101.mat", content: "features", method: zip.Deflate}, {name: "CUB/meta/classes.txt", content: "1 a"}},
		{{name: "../evil", content: "x"}},
		{{name: "a", content: "..", mode: fs.ModeSymlink}, {name: "a/evil", content: "x"}},
		{{name: "a", content: strings.Repeat("\x00", 5000), method: zip.Deflate}},
		{{name: "a", content: "longer than declared", declared: 3}},
		{{name: "a"}, {name: "a/b"}, {name: "/c"}},
	} {
		f.Add(archiveOf(f, entries...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := placeOf(t, b)
		sizes, err := p.unpack(t, small, nil)
		written, total := p.files(t), int64(0)
		for name, content := range written {
			total += int64(len(content))
			if size, reported := sizes[name]; err == nil && (!reported || size != int64(len(content))) {
				t.Errorf("%q has %d bytes, reported are %d", name, len(content), size)
			}
		}
		if total > small.bytes || (err == nil && len(sizes) != len(written)) {
			t.Errorf("%d files of %d bytes were written, %d are reported", len(written), total, len(sizes))
		}
	})
}
