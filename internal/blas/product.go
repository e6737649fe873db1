//go:build (linux || darwin) && (amd64 || arm64) && !android && !ios

package blas

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// product is what is known of a library beside its routines.
type product struct{ name, version, path string }

// identify asks a library who it is. name is what it was opened by, and routine
// the address of any of its functions.
func identify(handle uintptr, name string, routine uintptr) product {
	p := product{name: "BLAS", path: fileOf(routine, name)}
	var config func() string
	var versionString func(to *byte, size int32)
	switch {
	case bind(handle, "openblas_get_config", &config):
		p.name = "OpenBLAS"
		p.version = strings.TrimPrefix(strings.TrimSpace(config()), "OpenBLAS ")
		oneThread(handle, "openblas_set_num_threads")
	case bind(handle, "MKL_Get_Version_String", &versionString):
		p.name = "MKL"
		text := make([]byte, 256)
		versionString(&text[0], int32(len(text)))
		p.version = strings.TrimSpace(string(bytes.TrimRight(text, "\x00")))
		oneThread(handle, "MKL_Set_Num_Threads")
		repeatable(handle)
	case strings.Contains(name, "Accelerate"):
		p.name = "Accelerate"
	}
	return p
}

// oneThread keeps a library from threads of its own: products are split over
// goroutines, which trials that run beside each other share.
func oneThread(handle uintptr, setter string) {
	var set func(n int32)
	if bind(handle, setter, &set) {
		set(1)
	}
}

// repeatable asks MKL for the same bits whatever the alignment of its operands,
// which it does not give by itself. It must come before any product.
func repeatable(handle uintptr) {
	const cbwrAuto = 2 // MKL_CBWR_AUTO of mkl_types.h: the fastest code of this processor
	var set func(branch int32) int32
	if bind(handle, "MKL_CBWR_Set", &set) {
		set(cbwrAuto)
	}
}

// bind makes *fn call the named function of the library, if there is one.
func bind(handle uintptr, name string, fn any) bool {
	address, err := purego.Dlsym(handle, name)
	if err != nil {
		return false
	}
	purego.RegisterFunc(fn, address)
	return true
}

// fileOf returns the file that the loader took a routine from, or name where
// the loader does not say.
func fileOf(routine uintptr, name string) string {
	address, err := purego.Dlsym(purego.RTLD_DEFAULT, "dladdr")
	if err != nil {
		return name
	}
	var dladdr func(address uintptr, to *symbolInfo) int32
	purego.RegisterFunc(&dladdr, address)
	var info symbolInfo
	if dladdr(routine, &info) == 0 || info.file == nil {
		return name
	}
	path := unix.BytePtrToString(info.file)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// symbolInfo is the Dl_info of dladdr(3), of which only the file is of use here.
type symbolInfo struct {
	file *byte
	_    [3]uintptr
}
