package unpack

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/invalid"
)

// small are limits that small archives exceed.
var small = Limits{Bytes: 1000, Entries: 20}

func TestHostileArchivesAreRefused(t *testing.T) {
	zeros := strings.Repeat("\x00", 900)
	for _, c := range []struct {
		name    string
		entries []entry
		parts   []string // of the error
	}{
		{"a path upwards", []entry{{name: "../evil"}}, []string{`"../evil"`, "leaves it"}},
		{"a path upwards in the middle", []entry{{name: "a/../../evil"}}, []string{"leaves it"}},
		{"a path that comes back", []entry{{name: "a/../evil"}}, []string{"leaves it"}},
		{"an absolute path", []entry{{name: "/tmp/evil"}}, []string{`"/tmp/evil"`, "leaves it"}},
		{"a path of Windows upwards", []entry{{name: `..\evil`}}, []string{"leaves it"}},
		{"a drive", []entry{{name: "C:evil"}}, []string{"leaves it"}},
		{"a share", []entry{{name: `\\host\evil`}}, []string{"leaves it"}},
		{"a NUL", []entry{{name: "a\x00b"}}, []string{"leaves it"}},
		{"a backslash", []entry{{name: `a\b`}}, []string{"a backslash"}},
		{"no name", []entry{{name: ""}}, []string{"a path of plain names"}},
		{"a dot", []entry{{name: "./a"}}, []string{"a path of plain names", `"./a"`}},
		{"two slashes", []entry{{name: "a//b"}}, []string{"a path of plain names"}},
		{"a symbolic link", []entry{{name: "a", content: "/etc", mode: fs.ModeSymlink}}, []string{"expected a file, found a symbolic link"}},
		{"a device", []entry{{name: "a", mode: fs.ModeDevice}}, []string{"found a device"}},
		{"a pipe", []entry{{name: "a", mode: fs.ModeNamedPipe}}, []string{"found a special file"}},
		{"a folder without a slash", []entry{{name: "a", mode: fs.ModeDir}}, []string{"found a folder"}},
		{"a name twice", []entry{{name: "a", content: "1"}, {name: "a", content: "2"}}, []string{"expected one entry for a"}},
		{"two names that are one elsewhere", []entry{{name: "a"}, {name: "A"}}, []string{`expected one entry for A, found "a" as well`}},
		{"an encrypted file", []entry{{name: "a", content: "x", flags: 1}}, []string{"an encrypted one"}},
		{"a bomb by ratio", []entry{{name: "a", content: zeros + zeros[:99], method: zip.Deflate}}, []string{"at most 50 times", "found 999"}},
		{"a bomb by size", []entry{{name: "a", content: zeros + zeros}}, []string{"at most 1000 bytes", "found 1800"}},
		{"a bomb by many files", []entry{{name: "a", content: zeros}, {name: "b", content: zeros}}, []string{"at most 1000 bytes in all", "1800 so far"}},
		{"a length that lies low", []entry{{name: "a", content: zeros, declared: 10}}, []string{`entry "a"`}},
		{"a length that lies high", []entry{{name: "a", content: zeros, declared: 950}}, []string{"unexpected EOF"}},
		{"a length of all bits", []entry{{name: "a", content: "x", declared: 1<<64 - 1}}, []string{"at most 1000 bytes", "18446744073709551615"}},
		{"a method that nobody knows", []entry{{name: "a", content: "x", method: 99}}, []string{"unsupported compression"}},
		{"too many entries", make([]entry, 21), []string{"at most 20 entries, found 21"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := placeOf(t, archiveOf(t, c.entries...))
			limits := small
			limits.Ratio = 50
			refused(t, p, Options{Limits: limits}, c.parts...)
		})
	}
}

// refused unpacks an archive, which must fail for what it holds and touch nothing
// outside of the folder.
func refused(t *testing.T, p place, o Options, parts ...string) {
	t.Helper()
	_, err := Files(t.Context(), p.archive, p.dir, all, o)
	if !errors.Is(err, ErrArchive) || !errors.As(err, new(*invalid.Error)) {
		t.Fatalf("error %v, expected a *invalid.Error that is ErrArchive", err)
	}
	for _, part := range append(parts, p.archive) {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error doesn't say %q:\n%v", part, err)
		}
	}
	p.untouched(t)
}

func TestNamesThatLeaveAreRefusedEvenWhereTheyAreNotPicked(t *testing.T) {
	p := placeOf(t, archiveOf(t, entry{name: "a"}, entry{name: "../evil"}))
	_, err := Files(t.Context(), p.archive, p.dir, func(name string) (string, bool) { return name, name == "a" }, Options{})
	if !errors.Is(err, ErrArchive) {
		t.Errorf("error %v, expected ErrArchive", err)
	}
	if got := p.files(t); len(got) != 0 {
		t.Errorf("it wrote %v", got)
	}
}

func TestAPickThatLeavesIsRefused(t *testing.T) {
	for _, as := range []string{"../a", "/a", ".", "", "a/", `..\a`} {
		p := placeOf(t, archiveOf(t, entry{name: "a"}))
		_, err := Files(t.Context(), p.archive, p.dir, func(string) (string, bool) { return as, true }, Options{})
		if !errors.Is(err, ErrArchive) {
			t.Errorf("as %q: error %v, expected ErrArchive", as, err)
		}
		p.untouched(t)
	}
}

// Entries whose compressed bytes are the same ones: each looks modest.
func TestABombOfSharedBytesIsRefused(t *testing.T) {
	random := make([]byte, 2000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random) // never fails
	content := strings.Repeat(string(random), 4)
	b := archiveOf(t, entry{name: "_", content: content, method: zip.Deflate})
	// In the directory, the entry stands many times, under different names.
	end := bytes.LastIndex(b, []byte("PK\x05\x06"))
	from := int(binary.LittleEndian.Uint32(b[end+16:]))
	record, tail := b[from:end:end], b[end:]
	const names = "abcdefghijklmnopqrstuvwxyz"
	bomb := append([]byte(nil), b[:from]...)
	for i := range names {
		bomb = append(bomb, record...)
		bomb[len(bomb)-len(record)+46] = names[i]
	}
	bomb = append(bomb, tail...)
	tail = bomb[len(bomb)-22:]
	binary.LittleEndian.PutUint16(tail[8:], uint16(len(names)))
	binary.LittleEndian.PutUint16(tail[10:], uint16(len(names)))
	binary.LittleEndian.PutUint32(tail[12:], uint32(len(names)*len(record)))
	refused(t, placeOf(t, bomb), Options{Limits: Limits{Ratio: 10}}, "at most 10 times the archive's")
}

// A compressed length that is a lie would get a bomb past its ratio.
func TestACompressedLengthThatLiesIsRefused(t *testing.T) {
	b := archiveOf(t, entry{name: "a", content: strings.Repeat("\x00", 900), method: zip.Deflate})
	end := bytes.LastIndex(b, []byte("PK\x05\x06"))
	record := b[binary.LittleEndian.Uint32(b[end+16:]):]
	binary.LittleEndian.PutUint32(record[20:], 1<<20)
	refused(t, placeOf(t, b), Options{Limits: Limits{Ratio: 10}}, "compressed bytes within the archive's", "1048576")
}

func TestALongDirectoryIsNotRead(t *testing.T) {
	var entries []entry
	for i := range 200 {
		entries = append(entries, entry{name: fmt.Sprintf("%d%s", i, strings.Repeat("x", 2000))})
	}
	refused(t, placeOf(t, archiveOf(t, entries...)), Options{Limits: Limits{Entries: 250}}, "a directory of at most 250 entries")
}

func TestDamagedArchivesAreFound(t *testing.T) {
	good := archiveOf(t, entry{name: "a", content: strings.Repeat("content", 100)})
	flipped := append([]byte(nil), good...)
	flipped[100]++
	for name, b := range map[string][]byte{
		"empty":          nil,
		"a page":         []byte("<!DOCTYPE html><html>not found</html>"),
		"cut":            good[:len(good)-30],
		"another byte":   flipped,
		"end alone":      good[len(good)-22:],
		"the first half": good[:len(good)/2],
	} {
		t.Run(name, func(t *testing.T) { refused(t, placeOf(t, b), Options{}) })
	}
}

func TestLeaves(t *testing.T) {
	for _, name := range []string{"..", "../a", "a/..", "a/../b", "/", "/a", `\a`, `a\..\..\b`, "c:", "C:/a", `z:\a`, "\x00"} {
		if !leaves(name) {
			t.Errorf("%q is taken for a name within", name)
		}
	}
	for _, name := range []string{"a", "a/b", "...", "..a", "a..", "a/..b/c", "012.Class_L", "ab:c", "1:a", "ä:b", ""} {
		if leaves(name) {
			t.Errorf("%q is taken for one that leaves", name)
		}
	}
}
