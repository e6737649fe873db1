package zlib

import "io"

// inputSlack is how many bytes the fast decoder wants to see ahead: it loads eight
// at a time, twice for a match.
const inputSlack = 16

// bitReader hands out bits, the lowest of a byte first.
type bitReader struct {
	src io.Reader
	err error // of src

	buf      [64 << 10]byte
	pos, end int // unread bytes of buf

	bits  uint64 // taken from buf and not handed out
	count uint   // how many they are; the bits above them are 0
}

func (b *bitReader) reset(r io.Reader) {
	b.src, b.err = r, nil
	b.pos, b.end, b.bits, b.count = 0, 0, 0, 0
}

// fill reads until there are inputSlack unread bytes or src has no more.
func (b *bitReader) fill() {
	if b.err != nil || b.end-b.pos >= inputSlack {
		return
	}
	b.end = copy(b.buf[:], b.buf[b.pos:b.end])
	b.pos = 0
	for b.end < inputSlack && b.err == nil {
		var n int
		n, b.err = b.src.Read(b.buf[b.end:])
		b.end += n
	}
}

// need makes sure of n bits, 32 at most.
func (b *bitReader) need(n uint) error {
	for b.count < n {
		if b.pos == b.end {
			b.fill()
		}
		if b.pos == b.end {
			if b.err == io.EOF {
				return io.ErrUnexpectedEOF
			}
			return b.err
		}
		b.bits |= uint64(b.buf[b.pos]) << b.count
		b.pos++
		b.count += 8
	}
	return nil
}

// take hands out n bits, 32 at most.
func (b *bitReader) take(n uint) (int, error) {
	if err := b.need(n); err != nil {
		return 0, err
	}
	v := b.bits & (1<<n - 1)
	b.drop(n)
	return int(v), nil
}

func (b *bitReader) drop(n uint) {
	b.bits >>= n
	b.count -= n
}

// align drops what is left of a byte of which some bits are used.
func (b *bitReader) align() { b.drop(b.count & 7) }
