package zlib

import "encoding/binary"

// codes inflates a compressed block: quickly as long as there are input and room
// to spare, and then code by code.
func (z *Reader) codes() error {
	z.in.fill()
	if ended, err := z.fast(); ended || err != nil {
		z.step = (*Reader).blockHeader
		return err
	}
	if !z.room() {
		return nil
	}
	return z.slow()
}

// slow inflates one code, of which the input may be the last.
func (z *Reader) slow() error {
	e, err := z.code(&z.literals)
	if err != nil {
		return err
	}
	switch e.kind() {
	case literal:
		z.out[z.end] = byte(e.value())
		z.end++
		return nil
	case endOfBlock:
		z.step = (*Reader).blockHeader
		return nil
	}
	length, err := z.value(e)
	if err != nil {
		return err
	}
	if e, err = z.code(&z.distances); err != nil {
		return err
	}
	distance, err := z.value(e)
	if err != nil {
		return err
	}
	if distance > z.end {
		return ErrCorrupt
	}
	z.end = copyMatch(&z.out, z.end, distance, length)
	return nil
}

// code takes a code. It asks for no more input than the code has bits, since there
// may be no more.
func (z *Reader) code(t *table) (entry, error) {
	for {
		e := t.find(z.in.bits)
		if n := e.size(); n > 0 && n <= z.in.count {
			z.in.drop(n)
			return e, nil
		}
		if z.in.count >= maxCode {
			return 0, ErrCorrupt
		}
		if err := z.in.need(z.in.count + 1); err != nil {
			return 0, err
		}
	}
}

func (t *table) find(bits uint64) entry {
	e := t[bits&(1<<rootBits-1)]
	if e.kind() == subTable {
		e = t[e.value()+int(bits>>rootBits&(1<<subBits-1))]
	}
	return e
}

func (z *Reader) value(e entry) (int, error) {
	more, err := z.in.take(e.extra())
	return e.value() + more, err
}

// fast inflates until little input or room is left. It keeps the state of the bit
// reader in variables of its own, and it lets bits above count be set: they are the
// next ones of the input, and are set to the same again.
func (z *Reader) fast() (ended bool, err error) {
	in, pos, bits, count := z.in.buf[:z.in.end], z.in.pos, z.in.bits, z.in.count
	out, end := &z.out, z.end
	lits, dists := &z.literals, &z.distances
	for pos+inputSlack <= len(in) && end+maxMatch+slack <= len(out) {
		bits |= binary.LittleEndian.Uint64(in[pos:]) << (count & 63)
		pos += int(63-count) >> 3
		count |= 56

		// Three codes of 15 bits are within 56.
		e := lits[bits&(1<<rootBits-1)]
		for range 2 {
			if e.kind() != literal || e.size() == 0 {
				break
			}
			bits >>= e.size()
			count -= e.size()
			out[end] = byte(e.value())
			end++
			e = lits[bits&(1<<rootBits-1)]
		}
		if e.kind() == subTable {
			e = lits.find(bits)
		}
		if e.size() == 0 {
			err = ErrCorrupt
			break
		}
		bits >>= e.size()
		count -= e.size()
		if e.kind() == literal {
			out[end] = byte(e.value())
			end++
			continue
		}
		if e.kind() == endOfBlock {
			ended = true
			break
		}

		// A length has 5 extra bits, a distance a code of 15 bits and 13 extra bits.
		if count < 33 {
			bits |= binary.LittleEndian.Uint64(in[pos:]) << (count & 63)
			pos += int(63-count) >> 3
			count |= 56
		}
		length := e.value() + int(bits&(1<<e.extra()-1))
		bits >>= e.extra()
		count -= e.extra()
		e = dists.find(bits)
		if e.size() == 0 {
			err = ErrCorrupt
			break
		}
		bits >>= e.size()
		count -= e.size()
		distance := e.value() + int(bits&(1<<e.extra()-1))
		bits >>= e.extra()
		count -= e.extra()
		if distance > end {
			err = ErrCorrupt
			break
		}
		end = copyMatch(out, end, distance, length)
	}
	z.in.pos, z.in.bits, z.in.count = pos, bits&(1<<count-1), count
	z.end = end
	return ended, err
}

// copyMatch repeats what lies distance before end, and returns the new end. Where
// the words of source and target do not overlap it copies by words, and up to
// slack-1 bytes too many.
func copyMatch(out *[3 * windowSize]byte, end, distance, length int) int {
	from, target := end-distance, end+length
	if distance < 8 {
		for ; end < target; end++ {
			out[end] = out[from]
			from++
		}
		return target
	}
	for ; end < target; end += 8 {
		binary.LittleEndian.PutUint64(out[end:end+8], binary.LittleEndian.Uint64(out[from:from+8]))
		from += 8
	}
	return target
}
