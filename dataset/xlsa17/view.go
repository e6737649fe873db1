package xlsa17

import (
	"encoding/binary"
	"unsafe"
)

// littleEndian is whether memory has numbers in the byte order of the cache.
// Where it has not, nothing is cached.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf returns the memory of v as bytes, so that features are read into and
// written from where they lie: a copy of AWA2's takes 305 MB and longer than the
// reading. Both types are plain 4-byte numbers without pointers, any bytes are
// values of theirs, and a view of bytes needs no alignment. The view keeps v's
// memory alive.
func bytesOf[T int32 | float32](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}
