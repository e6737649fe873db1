//go:build !((linux || darwin) && (amd64 || arm64) && !android && !ios && !static)

package blas

import (
	"fmt"
	"runtime"
)

func search() (backend, error) { return open("") }

func open(string) (backend, error) {
	return nil, fmt.Errorf("this build for %s/%s opens no libraries", runtime.GOOS, runtime.GOARCH)
}

// CheckAddresses finds any address space large enough.
func CheckAddresses() error { return nil }
