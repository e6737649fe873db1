package matlab

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWriteAndRead(t *testing.T) {
	want := []*Array{
		{Name: "features", Class: Single, Dims: []int{2, 3}, Float32: []float32{1, -2.5, 3, 0.1, float32(math.Inf(1)), 6}},
		{Name: "labels", Class: Double, Dims: []int{3, 1}, Float32: []float32{1, 2, 1}},
		{Name: "small", Class: Uint8, Dims: []int{1, 3}, Float32: []float32{0, 7, 255}},
		{Name: "none", Class: Int32, Dims: []int{0, 4}, Float32: []float32{}},
		{Name: "a_name_longer_than_eight", Class: Int16, Dims: []int{1, 1, 1}, Float32: []float32{-32768}},
		{Name: "names", Class: Cell, Dims: []int{4, 1}, Strings: []string{"001.Red_bird", "", "Käuzchen", "鳥🐦"}},
		{Name: "row", Class: Cell, Dims: []int{1, 1}, Strings: []string{"x"}},
	}
	path := filepath.Join(t.TempDir(), "x.mat")
	if err := Write(path, want...); err != nil {
		t.Fatal(err)
	}
	got, err := Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Errorf("%d arrays are read, want %d", len(got), len(want))
	}
	for _, a := range want {
		if diff := cmp.Diff(a, got[a.Name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", a.Name, diff)
		}
	}
}

// Whatever numbers an array has, they are read as they were written.
func TestWriteProperty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.mat")
	rapid.Check(t, func(t *rapid.T) {
		class := rapid.SampledFrom([]Class{Double, Single, Int8, Uint8, Int16, Uint16, Int32, Uint32, Int64, Uint64}).Draw(t, "class")
		want := &Array{Name: "x", Class: class, Dims: []int{rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 9).Draw(t, "cols")}}
		for range want.Dims[0] * want.Dims[1] {
			v := float32(rapid.IntRange(0, 127).Draw(t, "number"))
			if class == Double || class == Single {
				v = rapid.Float32().Draw(t, "number")
			}
			want.Float32 = append(want.Float32, v)
		}
		text := &Array{Name: "y", Class: Cell, Strings: rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "strings")}
		for i, s := range text.Strings {
			text.Strings[i] = strings.ToValidUTF8(s, "")
		}
		text.Dims = []int{len(text.Strings), 1}
		var written bytes.Buffer
		if err := WriteTo(&written, want, text); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, written.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := Read(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]*Array{"x": want, "y": text}, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		a    Array
		want string
	}{
		{"text", Array{Class: Char, Dims: []int{1, 1}, Strings: []string{"a"}}, "not class char"},
		{"fewer numbers", Array{Class: Double, Dims: []int{2, 2}, Float32: []float32{1}}, "1 numbers in dimensions 2x2"},
		{"one dimension", Array{Class: Double, Dims: []int{1}, Float32: []float32{1}}, "1 numbers in dimensions 1"},
		{"more strings", Array{Class: Cell, Dims: []int{1, 1}, Strings: []string{"a", "b"}}, "2 strings in dimensions 1x1"},
		{"a fraction", Array{Class: Int32, Dims: []int{1, 2}, Float32: []float32{1, 1.5}}, "number 1 is 1.5, which is none of class int32"},
		{"a number beyond the class", Array{Class: Uint8, Dims: []int{1, 1}, Float32: []float32{256}}, "number 0 is 256, which is none of class uint8"},
		{"a NaN", Array{Class: Int64, Dims: []int{1, 1}, Float32: []float32{float32(math.NaN())}}, "NaN, which is none of class int64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.mat")
			c.a.Name = "spoilt"
			err := Write(path, &c.a)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "variable spoilt") {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the file is there: %v", err)
			}
		})
	}
	huge := Array{Name: "x", Class: Double, Dims: []int{1 << 28, 1}}
	if err := huge.writeMatrix(nil, 1<<31, nil); err == nil || !strings.Contains(err.Error(), "more than a variable of this format has") {
		t.Errorf("an array of 2 GB: %v", err)
	}
}
