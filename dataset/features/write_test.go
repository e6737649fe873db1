package features

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
)

// NumPy wrote testdata/C-f4.npy.
func TestWriteNPYWritesAsNumPyDoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := WriteNPY(path, fiveByThree); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/C-f4.npy")
	if err != nil {
		t.Fatal(err)
	}
	// NumPy leaves room for a longer shape: the texts may differ in space.
	if !bytes.Equal(bytes.Join(bytes.Fields(got), nil), bytes.Join(bytes.Fields(want), nil)) || len(got)%64 != len(want)%64 {
		t.Errorf("written\n%q\nwant\n%q", got, want)
	}
}

func TestWriteNPYProperty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	rapid.Check(t, func(t *rapid.T) {
		want := dataset.NewMatrix[float32](rapid.IntRange(1, 200).Draw(t, "rows"), rapid.IntRange(1, 12).Draw(t, "cols"))
		for i := range want.Data {
			want.Data[i] = math.Float32frombits(rapid.Uint32Range(0, 0x7f7fffff).Draw(t, "bits"))
			if i > 16 {
				want.Data[i] = want.Data[i%17]
			}
		}
		var file bytes.Buffer
		if err := writeNPY(&file, want); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := readBy(t, path, want.Rows); !cmp.Equal(want, got) {
			t.Fatalf("read back as %v, want %v", got, want)
		}
		if at := file.Len() - 4*len(want.Data); at%64 != 0 {
			t.Fatalf("the values begin at byte %d, no multiple of 64", at)
		}
	})
}

func TestWriteNPYNeedsAFolder(t *testing.T) {
	if err := WriteNPY(filepath.Join(t.TempDir(), "none", "x.npy"), fiveByThree); err == nil {
		t.Error("there is no error")
	}
}
