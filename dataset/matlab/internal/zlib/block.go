package zlib

import "io"

// blockHeader begins the next block: RFC 1951, section 3.2.3.
func (z *Reader) blockHeader() error {
	if z.last {
		return io.EOF
	}
	head, err := z.in.take(3)
	if err != nil {
		return err
	}
	z.last = head&1 != 0
	switch head >> 1 {
	case 0:
		return z.storedHeader()
	case 1:
		z.fixedCodes()
		return nil
	case 2:
		return z.dynamicCodes()
	default:
		return ErrCorrupt
	}
}

// storedHeader reads the size of a block that is not compressed, which is there
// twice, the second time with all bits turned.
func (z *Reader) storedHeader() error {
	z.in.align()
	size, err := z.in.take(32)
	if err != nil {
		return err
	}
	if size&0xffff != size>>16^0xffff {
		return ErrCorrupt
	}
	z.stored = size & 0xffff
	z.step = (*Reader).copyStored
	return nil
}

func (z *Reader) copyStored() error {
	for z.stored > 0 && z.end < len(z.out) {
		if z.in.count == 0 && z.in.pos < z.in.end {
			n := copy(z.out[z.end:], z.in.buf[z.in.pos:min(z.in.end, z.in.pos+z.stored)])
			z.in.pos += n
			z.end += n
			z.stored -= n
			continue
		}
		b, err := z.in.take(8)
		if err != nil {
			return err
		}
		z.out[z.end] = byte(b)
		z.end++
		z.stored--
	}
	if z.stored == 0 {
		z.step = (*Reader).blockHeader
	}
	return nil
}

// fixedCodes sets the codes of section 3.2.6.
func (z *Reader) fixedCodes() {
	var lengths [len(litSymbols)]uint8
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	z.literals.build(lengths[:], litSymbols[:])
	for i := range distSymbols {
		lengths[i] = 5
	}
	z.distances.build(lengths[:len(distSymbols)], distSymbols[:])
	z.step = (*Reader).codes
}

// codeOrder is the order in which a block gives the lengths of the codes in which
// the lengths of its codes are given.
var codeOrder = [len(codeSymbols)]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamicCodes reads the codes of a block: section 3.2.7.
func (z *Reader) dynamicCodes() error {
	head, err := z.in.take(14)
	if err != nil {
		return err
	}
	lits, dists, codes := head&31+257, head>>5&31+1, head>>10+4
	if lits > numLit || dists > numDist {
		return ErrCorrupt
	}
	var codeLengths [len(codeSymbols)]uint8
	for _, i := range codeOrder[:codes] {
		n, err := z.in.take(3)
		if err != nil {
			return err
		}
		codeLengths[i] = uint8(n)
	}
	if !z.literals.build(codeLengths[:], codeSymbols[:]) {
		return ErrCorrupt
	}
	var lengths [numLit + numDist]uint8
	if err := z.codeLengths(lengths[:lits+dists]); err != nil {
		return err
	}
	if !z.literals.build(lengths[:lits], litSymbols[:]) || !z.distances.build(lengths[lits:lits+dists], distSymbols[:]) {
		return ErrCorrupt
	}
	z.step = (*Reader).codes
	return nil
}

// codeLengths reads lengths of codes, in codes for which literals is set.
func (z *Reader) codeLengths(lengths []uint8) error {
	for i := 0; i < len(lengths); {
		e, err := z.code(&z.literals)
		if err != nil {
			return err
		}
		value, times, extra := uint8(0), 1, uint(0)
		switch symbol := e.value(); symbol {
		case 16:
			if i == 0 {
				return ErrCorrupt
			}
			value, times, extra = lengths[i-1], 3, 2
		case 17:
			times, extra = 3, 3
		case 18:
			times, extra = 11, 7
		default:
			value = uint8(symbol)
		}
		more, err := z.in.take(extra)
		if err != nil {
			return err
		}
		if times += more; times > len(lengths)-i {
			return ErrCorrupt
		}
		for range times {
			lengths[i] = value
			i++
		}
	}
	return nil
}
