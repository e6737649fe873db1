package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/answers/predictor/render"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/train"
)

// outputs writes the files that a user asks for. Unless it is forced, it replaces no file but what
// it can see to be an earlier output of the same kind.
type outputs struct {
	force   bool
	inputs  []string // files that the command reads
	written []string
}

func (o *outputs) setting() setting.Setting {
	return setting.Switch("force", &o.force, false).In(outputGroup)
}

// check returns an error if a file to write is one that the command reads.
func (o *outputs) check(path string) error {
	written, err := os.Stat(path)
	if err != nil || o.force {
		return nil
	}
	for _, input := range o.inputs {
		if read, err := os.Stat(input); err == nil && os.SameFile(read, written) {
			return refused(path, "a file that the command does not read", "an input")
		}
	}
	return nil
}

// write writes a file, see fileio.Write, unless its name is "".
func (o *outputs) write(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	if err := o.check(path); err != nil {
		return err
	}
	err := fileio.Write(path, func(w io.Writer) error {
		begin := &beginning{Writer: w}
		if err := write(begin); err != nil {
			return err
		}
		return o.checkKind(path, begin.bytes)
	})
	if err == nil {
		o.written = append(o.written, path)
	}
	return err
}

// fileWriter writes a file as outputs.write does.
type fileWriter = func(path string, write func(io.Writer) error) error

// all writes several files. It calls files first without writing any: if one is refused, all are.
func (o *outputs) all(files func(fileWriter) error) error {
	err := files(func(path string, write func(io.Writer) error) error {
		begin := &beginning{Writer: io.Discard}
		if err := cmp.Or(o.check(path), write(begin)); err != nil {
			return err
		}
		return o.checkKind(path, begin.bytes)
	})
	if err != nil {
		return err
	}
	return files(o.write)
}

// checkKind returns an error if a file is there that is not of the kind of one that begins with begin.
func (o *outputs) checkKind(path string, begin []byte) error {
	info, err := os.Stat(path)
	switch {
	case err != nil || o.force || !info.Mode().IsRegular():
		return nil
	case filepath.Base(path) != train.LockFile && (info.Size() == 0 || sameKind(beginOf(path), begin)):
		return nil
	}
	return refused(path, "a new file, or an earlier output of the same kind", "another file")
}

// checkFile returns an error if the file of a flag cannot be written, now rather than after hours: if
// it is a folder, its folder does not exist, or it is another file than those that begin with a text.
func (o *outputs) checkFile(flag, file, begin string) error {
	if file == "" {
		return nil
	}
	switch info, err := os.Stat(file); {
	case err == nil && info.IsDir():
		return wrong("--"+flag, "a file", file+", a folder")
	case err == nil && begin != "":
		return atFlag(flag, o.checkKind(file, []byte(begin)))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return atFlag(flag, invalid.File(file, err))
	}
	dir := filepath.Dir(file) // "." without a file
	_, err := os.Stat(dir + string(filepath.Separator))
	return atFlag(flag, invalid.File(dir, err))
}

// writeRows writes a CSV file.
func (o *outputs) writeRows(file string, rows [][]string) error {
	return o.write(file, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

// formatOf returns the format of an output: that of --format or else by how the name of --to ends, which must
// be one of endings. Without --to, and without an ending, it is the default.
func formatOf(c *cli.Context, given render.Format, endings map[string]render.Format) (render.Format, error) {
	to := c.String("to")
	ending := strings.ToLower(filepath.Ext(to))
	if c.IsSet("format") || ending == "" {
		return given, nil
	}
	if as, known := endings[ending]; known {
		return as, nil
	}
	return given, wrong("--to", "a file that ends in one of "+
		strings.Join(slices.Sorted(maps.Keys(endings)), ", ")+", or --format", invalid.Quote(to))
}

// log names the files that were written.
func (o *outputs) log() {
	if o.written != nil {
		logrus.WithField("files", strings.Join(o.written, ", ")).Info("written")
	}
}

func refused(path, want, got string) error {
	return &invalid.Error{
		Where: path, Want: want, Got: got, Hint: "Choose another name, or replace it with --force.",
		Usage: true,
	}
}

// beginning keeps the first bytes that are written.
type beginning struct {
	io.Writer
	bytes []byte
}

const beginBytes = 1 << 12

func (b *beginning) Write(p []byte) (int, error) {
	b.bytes = append(b.bytes, p[:min(len(p), beginBytes-len(b.bytes))]...)
	return b.Writer.Write(p)
}

// beginOf returns the first bytes of a file, none if it cannot be read.
func beginOf(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it is only read
	begin, _ := io.ReadAll(io.LimitReader(f, beginBytes))
	return begin
}

var (
	generator = regexp.MustCompile(`<meta name="generator" content="lago-train \w+">|` +
		`<!-- Generated by SVGo and Plotinum VG -->`)
	sentence  = regexp.MustCompile(`\A[^\n]+ is predicted as `)
	firstKeys = regexp.MustCompile(`^\{\s*"(\w+)":[^,]*,\s*"(\w+)"`)
)

// sameKind reports whether a file, of which begin is the beginning, can be seen to be an earlier output of
// the kind of another one: a page or a picture by its generator, JSON by its first keys, CSV by the first and
// most of the other columns, an explanation by its first sentence, and other text by its first word.
func sameKind(begin, of []byte) bool {
	if bytes.HasPrefix(of, []byte("<")) {
		mark := generator.Find(of)
		return mark != nil && bytes.Equal(mark, generator.Find(begin))
	}
	if sentence.Match(of) {
		return sentence.Match(begin)
	}
	if keys := firstKeys.FindSubmatch(of); keys != nil {
		old := firstKeys.FindSubmatch(begin)
		return old != nil && bytes.Equal(old[1], keys[1]) && bytes.Equal(old[2], keys[2])
	}
	if bytes.ContainsAny(of, "\x00\x89") {
		return false
	}
	header := func(text []byte) []string {
		line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		if !strings.Contains(line, ",") {
			line, _, _ = strings.Cut(line, " ")
		}
		return strings.Split(strings.TrimSpace(line), ",")
	}
	old, columns := header(begin), header(of)
	shared := 0
	for _, c := range columns {
		if strings.Contains(","+strings.Join(old, ",")+",", ","+c+",") {
			shared++
		}
	}
	return old[0] == columns[0] && (len(old) > 1) == (len(columns) > 1) && 2*shared > len(columns)
}
