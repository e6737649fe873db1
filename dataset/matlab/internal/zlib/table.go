package zlib

import "math/bits"

const (
	maxCode  = 15  // bits of the longest code
	numLit   = 286 // literals, the end of the block, and lengths of matches
	numDist  = 30  // distances of matches
	rootBits = 11  // a code of no more bits is found in one step
	subBits  = maxCode - rootBits

	// Codes that share their first rootBits share a table of the second step. Each
	// such table is of two codes at least, since build refuses incomplete sets.
	tableSize = 1<<rootBits + numLit/2<<subBits
)

// entry is what a code stands for: its value << 16, its kind, the number of extra
// bits << 4, and the number of bits of the code itself, which is 0 where no code is.
type entry uint32

const (
	literal entry = iota << 8 // or any other plain number
	match                     // a base, to which the extra bits are added
	endOfBlock
	subTable // goes on at value, with the next subBits of input
	kindMask = 3 << 8
)

func (e entry) size() uint    { return uint(e & 15) }
func (e entry) extra() uint   { return uint(e >> 4 & 15) }
func (e entry) kind() entry   { return e & kindMask }
func (e entry) value() int    { return int(e >> 16) }
func plain(value int) entry   { return entry(value)<<16 | literal }
func base(v, extra int) entry { return entry(v)<<16 | match | entry(extra)<<4 }

// unused marks the symbols that have a code among the fixed ones, for a complete set
// of codes, and no meaning.
const unused = subTable

// The meaning of the symbols: RFC 1951, section 3.2.5.
var (
	codeSymbols [19]entry
	litSymbols  = [numLit + 2]entry{numLit: unused, unused}
	distSymbols = [numDist + 2]entry{numDist: unused, unused}
)

func init() {
	for i := range codeSymbols {
		codeSymbols[i] = plain(i)
	}
	for i := range 256 {
		litSymbols[i] = plain(i)
	}
	litSymbols[256] = endOfBlock
	length := 3
	for i := range 28 {
		extra := max(0, i/4-1)
		litSymbols[257+i] = base(length, extra)
		length += 1 << extra
	}
	litSymbols[285] = base(maxMatch, 0)
	distance := 1
	for i := range numDist {
		extra := max(0, i/2-1)
		distSymbols[i] = base(distance, extra)
		distance += 1 << extra
	}
}

// table finds the code at the beginning of some bits.
type table [tableSize]entry

// build makes the table of the canonical Huffman code in which symbols have codes of
// the given lengths, 0 for none. It returns false if there is no such code.
func (t *table) build(lengths []uint8, symbols []entry) bool {
	var count [maxCode + 1]int
	for _, n := range lengths {
		count[n]++
	}
	if !complete(&count) {
		return false
	}
	var next [maxCode + 1]uint16 // code of each length
	for n := 2; n <= maxCode; n++ {
		next[n] = (next[n-1] + uint16(count[n-1])) << 1
	}
	clear(t[:1<<rootBits])
	free := 1 << rootBits
	for symbol, n := range lengths {
		if n == 0 {
			continue
		}
		size := uint(n)
		code := int(bits.Reverse16(next[n]) >> (16 - size))
		next[n]++
		if symbols[symbol] == unused {
			continue
		}
		e := symbols[symbol] | entry(n)
		if size <= rootBits {
			fill(t[:1<<rootBits], code, size, e)
			continue
		}
		root := &t[code&(1<<rootBits-1)]
		if *root == 0 {
			*root = entry(free)<<16 | subTable
			free += 1 << subBits
		}
		fill(t[root.value():root.value()+1<<subBits], code>>rootBits, size-rootBits, e)
	}
	return true
}

// complete reports whether codes, count[n] of n bits, are all that there can be.
// None at all are allowed, and a single one of one bit.
func complete(count *[maxCode + 1]int) bool {
	left, used := 1, 0
	for n := 1; n <= maxCode; n++ {
		left = left<<1 - count[n]
		if left < 0 {
			return false
		}
		used += count[n]
	}
	return left == 0 || used == 0 || used == 1 && count[1] == 1
}

// fill sets each entry of which the low bits are the code.
func fill(t []entry, code int, size uint, e entry) {
	for i := code; i < len(t); i += 1 << size {
		t[i] = e
	}
}
