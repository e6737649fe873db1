package npy_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/lago-train/lago-train/internal/npy"
)

func ExampleReadHeader() {
	// Of version 1, with a text of 0x3b bytes.
	const text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
	file := npy.Magic + "\x01\x00" + "\x3b\x00" + text + "the values, of 24 bytes."
	h, err := npy.ReadHeader(strings.NewReader(file), "features.npy")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Type, h.Fortran, h.Shape)
	fmt.Println(file[h.Offset:], h.Fits(24, 4))
	_, err = npy.ReadHeader(strings.NewReader("1,2,3\n4,5,6\n"), "features.npy")
	fmt.Println(err)
	// Output:
	// <f4 false (2, 3)
	// the values, of 24 bytes. true
	// features.npy: header: expected a NumPy array, as numpy.save writes it, found a file that begins with "1,2,3\n4,"
}
