package download

import (
	"context"
	"errors"
	"fmt"
	"io"
)

const bufferSize = 1 << 18

// receive appends a body of want bytes to the part, want being -1 where that is
// unknown. alive is called whenever something comes.
func (d *download) receive(ctx context.Context, body io.Reader, want int64, alive func()) error {
	buffer := make([]byte, bufferSize)
	for got := int64(0); ; {
		n, err := body.Read(buffer)
		got += int64(n)
		if want >= 0 && got > want {
			return d.drop(&Error{Want: fmt.Sprintf("%d bytes", want), Got: "more"})
		}
		if n > 0 {
			alive()
			if err := d.fits(d.part.size + int64(n)); err != nil {
				return d.drop(err)
			}
			if _, err := d.part.Write(buffer[:n]); err != nil {
				return err
			}
			d.Progress(d.part.size, d.part.Total)
		}
		switch {
		case err == io.EOF && (want < 0 || got == want):
			return d.ended()
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
			return tooShort(want, got, nil)
		case err != nil:
			e := d.broken(ctx, err)
			if e.Want == "" && !e.final {
				return tooShort(want, got, e.Err)
			}
			return e
		}
	}
}

// drop empties the part because of an error that leaves open which of its bytes are
// the file's, and returns that error.
func (d *download) drop(because error) error {
	d.noRange = true
	if err := d.part.empty(); err != nil {
		return err
	}
	return because
}

func tooShort(want, got int64, err error) error {
	e := &Error{Want: fmt.Sprintf("%d bytes", want), Got: fmt.Sprintf("an end after %d", got), Err: err}
	if want < 0 {
		e.Want = "the end of the file"
	}
	return e
}

// ended looks at the part after a body that is whole. A body may be less than all
// that was asked for.
func (d *download) ended() error {
	p := d.part
	if p.Total < 0 {
		p.Total = p.size
	}
	if !p.whole() {
		return &Error{Want: fmt.Sprintf("%d bytes", p.Total), Got: fmt.Sprintf("an end after %d", p.size)}
	}
	return nil
}
