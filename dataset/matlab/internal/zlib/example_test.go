package zlib_test

import (
	"bytes"
	"fmt"
	"io"
	"log"

	"github.com/lago-train/lago-train/dataset/matlab/internal/zlib"
)

func ExampleReader() {
	// A stream of one stored block, and its checksum.
	packed := []byte{0x78, 0x01, 0x01, 4, 0, 0xfb, 0xff, 'l', 'a', 'g', 'o', 0x04, 0x14, 0x01, 0xa4}
	var z zlib.Reader
	if err := z.Reset(bytes.NewReader(packed)); err != nil {
		log.Fatal(err)
	}
	data, err := io.ReadAll(&z)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", data)
	// Output:
	// lago
}
