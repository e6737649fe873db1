package blas

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// aLibrary returns the library of this machine.
func aLibrary(t testing.TB) backend {
	t.Helper()
	l, err := search()
	if err != nil {
		t.Skip(err)
	}
	return l
}

// restore puts back what was in use when the test ends.
func restore(t *testing.T) {
	before := current
	t.Cleanup(func() {
		current = before
		blas32.Use(before)
		blas64.Use(before)
		gorgonia.Use(before)
	})
}

// inUse fails unless every user of BLAS in the process has b.
func inUse(t *testing.T, b backend) {
	t.Helper()
	for name, got := range map[string]any{
		"blas32":   blas32.Implementation(),
		"blas64":   blas64.Implementation(),
		"gorgonia": gorgonia.WhichBLAS(),
		"tensor":   tensor.WhichBLAS(),
	} {
		if got != any(b) {
			t.Errorf("%s uses a %T, want the %T that was chosen", name, got, b)
		}
	}
}

func TestUsePureGo(t *testing.T) {
	restore(t)
	got, err := Use(PureGo)
	if err != nil {
		t.Fatal(err)
	}
	want := Info{Name: "gonum", Why: "pure Go was requested"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("info (-want +got):\n%s", diff)
	}
	inUse(t, pureGo{why: "pure Go was requested"})
}

func TestUseLibraryOfTheMachine(t *testing.T) {
	restore(t)
	t.Setenv(EnvLibrary, "")
	got, err := Use("")
	if err != nil {
		t.Fatal(err)
	}
	inUse(t, current)
	if diff := cmp.Diff(got, Current()); diff != "" {
		t.Errorf("Current differs from what Use returned (-use +current):\n%s", diff)
	}

	_, err = search()
	if err != nil { // a machine without a library
		if got.Name != "gonum" || got.Why != err.Error() {
			t.Errorf("info %+v, want gonum because %q", got, err)
		}
		return
	}
	if got.Why != "" || got.Path == "" {
		t.Errorf("info %+v, want the path of a library and no reason for its absence", got)
	}
}

func TestLibraryFromEnvironment(t *testing.T) {
	restore(t)
	path := aLibrary(t).info().Path
	t.Setenv(EnvLibrary, path)
	got, err := Use("")
	if err != nil {
		t.Fatal(err)
	}
	if got.Path != path {
		t.Errorf("path %s, want %s", got.Path, path)
	}

	// The argument comes before the environment.
	t.Setenv(EnvLibrary, "absent")
	if _, err := Use(PureGo); err != nil {
		t.Errorf("$%s was read where a library was named: %v", EnvLibrary, err)
	}
}

func TestUnusableLibrary(t *testing.T) {
	if _, err := search(); err != nil {
		t.Skip(err)
	}
	restore(t)
	noLibrary := filepath.Join(t.TempDir(), "libtext.so")
	if err := os.WriteFile(noLibrary, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := current
	for _, name := range []string{"/no/such/libopenblas.so.0", noLibrary} {
		t.Setenv(EnvLibrary, name)
		_, err := Use("")
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("$%s = %s: error %v, want one that names it", EnvLibrary, name, err)
		}
		if current != before {
			t.Error("an error of Use changed what is in use")
		}
	}
}

func TestNotABLASLibrary(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the name of the C library is that of Linux")
	}
	aLibrary(t) // skips where libraries are not opened at all
	_, err := open("libc.so.6")
	if err == nil || !strings.Contains(err.Error(), "not a BLAS library") {
		t.Errorf("error %v, want it to say that the C library is not a BLAS library", err)
	}
}
