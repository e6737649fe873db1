package blas

import (
	"cmp"
	"os"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/internal/invalid"
)

// PureGo selects gonum's own routines.
const PureGo = "go"

// EnvLibrary is the environment variable that names a library.
const EnvLibrary = "LAGO_BLAS"

// Info describes what multiplies matrices, for the log and the record of a run.
type Info struct {
	Name    string `json:"name"`              // "OpenBLAS", "MKL", "Accelerate", "BLAS" or "gonum"
	Version string `json:"version,omitempty"` // as the library reports it
	Path    string `json:"path,omitempty"`    // of the library; empty for gonum
	Why     string `json:"why,omitempty"`     // why no library is in use
}

func (i Info) String() string {
	s := i.Name
	if i.Version != "" {
		s += " " + i.Version
	}
	if i.Path != "" {
		s += " (" + i.Path + ")"
	}
	if i.Why != "" {
		s += ": " + i.Why
	}
	return s
}

// backend is a library or gonum.
type backend interface {
	gorgonia.BLAS
	info() Info
}

var (
	mu      sync.Mutex
	current backend = pureGo{why: "blas.Use was not called"}
)

// Use sets the BLAS of the whole process: the shared library of a path or name, or PureGo.
// "" means $LAGO_BLAS and, if that is empty too, the first of the usual names that opens.
// It must not run while products do. A named library that cannot be used is an error and
// changes nothing. If none was named and none is found, gonum's routines are used and
// Info.Why says why.
func Use(library string) (Info, error) {
	b, err := choose(cmp.Or(library, os.Getenv(EnvLibrary)))
	if err != nil {
		return Info{}, err
	}
	mu.Lock()
	defer mu.Unlock()
	current = b
	blas32.Use(b)
	blas64.Use(b)
	gorgonia.Use(b)
	return b.info(), nil
}

// Current describes the BLAS that Use chose.
func Current() Info {
	mu.Lock()
	defer mu.Unlock()
	return current.info()
}

// choose returns the backend of a name, or of none.
func choose(name string) (backend, error) {
	switch name {
	case PureGo:
		return pureGo{why: "pure Go was requested"}, nil
	case "":
		b, err := search()
		if err != nil {
			return pureGo{why: err.Error()}, nil
		}
		return b, nil
	}
	b, err := open(name)
	if err != nil {
		return nil, &invalid.Error{
			Where: "$" + EnvLibrary, Want: "a BLAS library, or " + PureGo, Got: name,
			Err: err, Hint: "Unset it to use the first library that is found.",
		}
	}
	return b, nil
}

// pureGo is gonum's BLAS.
type pureGo struct {
	gonum.Implementation
	why string
}

func (g pureGo) info() Info {
	return Info{Name: "gonum", Why: g.why}
}
