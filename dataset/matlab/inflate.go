package matlab

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash"
	"hash/adler32"
	"io"

	"github.com/klauspost/compress/flate"
)

var (
	errZlibHeader = errors.New("not a zlib stream")
	errChecksum   = errors.New("the data do not have the checksum that is stored with them")
)

// inflater reads a zlib stream (RFC 1950). Inflating takes nearly all the time that
// it takes to read a file, so that start lets another goroutine do it. That is also
// why it takes the stream apart itself: the checksum, a tenth of the time of a
// zlib.Reader, is then computed by the goroutine that reads.
type inflater struct {
	in    *bufio.Reader
	flate io.ReadCloser
	ahead *readAhead // nil until start
	sum   hash.Hash32
	err   error // the first of flate or of the checksum
}

// reset begins a new stream, which in holds.
func (z *inflater) reset(in *bufio.Reader) error {
	var head [2]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return err
	}
	const (
		deflate, windowBits = 8, 7 // as stored in the low and the high half of a byte
		dictionary          = 0x20
	)
	if head[0]&0xf != deflate || head[0]>>4 > windowBits || head[1]&dictionary != 0 ||
		binary.BigEndian.Uint16(head[:])%31 != 0 {
		return errZlibHeader
	}
	z.in, z.err = in, nil
	if z.flate == nil {
		z.flate, z.sum = flate.NewReader(in), adler32.New()
		return nil
	}
	z.sum.Reset()
	return z.flate.(flate.Resetter).Reset(in, nil)
}

// start makes another goroutine inflate from here on, until stop.
func (z *inflater) start() { z.ahead = newReadAhead(z.flate) }

func (z *inflater) stop() {
	if z.ahead != nil {
		z.ahead.close()
		z.ahead = nil
	}
}

func (z *inflater) Read(p []byte) (n int, err error) {
	if z.err != nil {
		return 0, z.err
	}
	if z.ahead != nil {
		n, z.err = z.ahead.Read(p)
	} else {
		n, z.err = z.flate.Read(p)
	}
	z.sum.Write(p[:n])
	if z.err == io.EOF {
		z.err = z.checkSum()
	}
	return n, z.err
}

// checkSum compares the checksum behind the data. It returns io.EOF if it is right.
func (z *inflater) checkSum() error {
	var tail [4]byte
	if _, err := io.ReadFull(z.in, tail[:]); err != nil {
		return io.ErrUnexpectedEOF
	}
	if binary.BigEndian.Uint32(tail[:]) != z.sum.Sum32() {
		return errChecksum
	}
	return io.EOF
}

// inflatedSize counts the bytes to which a zlib stream inflates, as far as limit.
func inflatedSize(r io.Reader, limit int64) (int64, error) {
	var z inflater
	if err := z.reset(bufio.NewReaderSize(r, bufferSize)); err != nil {
		return 0, err
	}
	return io.CopyN(io.Discard, &z, limit)
}
