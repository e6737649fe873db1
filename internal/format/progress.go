package format

import (
	"fmt"
	"time"
)

// Progress is how far a piece of work is.
type Progress struct {
	What        string // such as "downloading features"
	Unit        string // of Done and Total, such as "images"; "" is bytes
	Done, Total int64  // Total is -1 if it is not known
	Later       int64  // of what follows this piece, and is part of the time that is left
	AtMost      bool   // the work may end before Total
	More        string // what else the line says

	before int64 // what was done at the start
	start  time.Time
}

// NewProgress returns the progress of work that starts at this time, and of which a part is done.
func NewProgress(what, unit string, done, total int64) Progress {
	return Progress{What: what, Unit: unit, Done: done, Total: total, before: done, start: time.Now()}
}

// Ended reports whether all is done.
func (p Progress) Ended() bool { return p.Done == p.Total }

// String is the progress line, as in "extracting: 8 of 40 images, 2.5 images/s, about 13s left".
func (p Progress) String() string { return p.after(time.Since(p.start)) }

func (p Progress) after(elapsed time.Duration) string {
	amount := func(n int64) string { return fmt.Sprintf("%d %s", n, p.Unit) }
	if p.Unit == "" {
		amount = Bytes
	}
	s := amount(p.Total)
	switch {
	case p.Total < 0:
		s = amount(p.Done)
	case p.Unit == "":
		s = amount(p.Done) + " of " + s
	default:
		s = fmt.Sprintf("%d of %s", p.Done, s)
	}
	if p.More != "" {
		s += ", " + p.More
	}
	rate := float64(p.Done-p.before) / elapsed.Seconds()
	switch {
	case !(rate > 0) || elapsed <= 0:
		return p.What + ": " + s
	case p.Unit == "":
		s += ", " + Bytes(int64(rate)) + "/s"
	case rate >= 0.1:
		s += fmt.Sprintf(", %.3g %s/s", rate, p.Unit)
	}
	left := time.Duration(float64(p.Total-p.Done+p.Later) / rate * float64(time.Second)).Round(time.Second)
	if about := "about"; left > 0 {
		if p.AtMost {
			about = "up to"
		}
		s += fmt.Sprintf(", %s %s left", about, left)
	}
	return p.What + ": " + s
}
