package matlab

import "io"

const (
	aheadFrom   = 1 << 20 // bytes for which a goroutine is worth its while
	aheadBlocks = 8
)

// readAhead reads from another reader in a goroutine of its own, a few blocks ahead
// of its own reader.
type readAhead struct {
	filled, empty chan []byte
	block, rest   []byte // the block that is being read, and what is left of it
	err           error  // why the goroutine ended; set before filled is closed
}

func newReadAhead(r io.Reader) *readAhead {
	a := &readAhead{filled: make(chan []byte, aheadBlocks), empty: make(chan []byte, aheadBlocks)}
	for range aheadBlocks {
		a.empty <- make([]byte, bufferSize)
	}
	go a.fill(r)
	return a
}

// fill never waits to send: there are no more blocks than filled has room for.
func (a *readAhead) fill(r io.Reader) {
	defer close(a.filled)
	for block := range a.empty {
		n, err := r.Read(block)
		a.filled <- block[:n]
		if err != nil {
			a.err = err
			return
		}
	}
}

func (a *readAhead) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.block != nil {
			a.empty <- a.block[:cap(a.block)]
			a.block = nil
		}
		block, ok := <-a.filled
		if !ok {
			return 0, a.err
		}
		a.block, a.rest = block, block
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// close waits until the goroutine has ended, so that its reader is free again.
func (a *readAhead) close() {
	close(a.empty)
	for range a.filled {
	}
}
