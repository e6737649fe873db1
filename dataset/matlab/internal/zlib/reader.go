package zlib

import (
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"io"
)

// Errors of streams that are not what they should be. One that ends too early is an
// io.ErrUnexpectedEOF.
var (
	ErrHeader   = errors.New("no zlib stream")
	ErrCorrupt  = errors.New("corrupt compressed data")
	ErrChecksum = errors.New("the data do not have the checksum that is stored with them")
)

const (
	windowSize = 32 << 10 // how far back a match reaches
	maxMatch   = 258
	slack      = 8 // matches are copied by words, which go beyond their end
)

// Reader inflates a stream. Its zero value is ready for Reset.
type Reader struct {
	in bitReader

	out       [3 * windowSize]byte
	from, end int   // what waits to be read is out[from:end]; before it lies the window
	err       error // why there is no more after that
	sum       hash.Hash32

	step   func(*Reader) error // goes on inflating until out is full or a block ends
	last   bool                // the block at hand is the last
	stored int                 // bytes left of a stored block

	literals, distances table
}

// Reset begins the stream that r holds.
func (z *Reader) Reset(r io.Reader) error {
	z.in.reset(r)
	z.from, z.end, z.err = 0, 0, nil
	z.step, z.last = (*Reader).blockHeader, false
	z.sum = adler32.New()

	const deflate, maxWindow, dictionary = 8, 7, 0x20
	method, err := z.in.take(8)
	if err != nil {
		return err
	}
	flags, err := z.in.take(8)
	if err != nil {
		return err
	}
	if method&15 != deflate || method>>4 > maxWindow || flags&dictionary != 0 || (method<<8|flags)%31 != 0 {
		return fmt.Errorf("%w: it begins with % x", ErrHeader, []byte{byte(method), byte(flags)})
	}
	return nil
}

// Read reads inflated data. At their end it compares the checksum.
func (z *Reader) Read(p []byte) (int, error) {
	for z.from == z.end {
		if z.err != nil {
			return 0, z.err
		}
		z.inflate()
	}
	n := copy(p, z.out[z.from:z.end])
	z.from += n
	return n, nil
}

// inflate fills out again, behind a window of what came before.
func (z *Reader) inflate() {
	if z.end > windowSize {
		copy(z.out[:], z.out[z.end-windowSize:z.end])
		z.end = windowSize
	}
	z.from = z.end
	for z.err == nil && z.room() {
		z.err = z.step(z)
	}
	z.sum.Write(z.out[z.from:z.end])
	if z.err == io.EOF {
		z.err = z.checkSum()
	}
}

// room reports whether the longest match fits out.
func (z *Reader) room() bool { return z.end+maxMatch+slack <= len(z.out) }

// checkSum returns io.EOF if the checksum is right.
func (z *Reader) checkSum() error {
	z.in.align()
	var stored uint32
	for range 4 {
		b, err := z.in.take(8)
		if err != nil {
			return err
		}
		stored = stored<<8 | uint32(b)
	}
	if stored != z.sum.Sum32() {
		return ErrChecksum
	}
	return io.EOF
}
