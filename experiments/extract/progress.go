package extract

import (
	"fmt"
	"time"
)

// Progress is how far an extraction is.
type Progress struct {
	Done, Total int           // images
	Rate        float64       // images per second, without those done before; 0 while it is not known
	Left        time.Duration // estimate, 0 while there is none
}

// String is the progress line.
func (p Progress) String() string {
	s := fmt.Sprintf("%d of %d images", p.Done, p.Total)
	if p.Rate > 0 {
		s += fmt.Sprintf(", %.3g images/s", p.Rate)
	}
	if p.Left > 0 {
		s += fmt.Sprintf(", about %s left", p.Left.Round(time.Second))
	}
	return s
}

// clock counts images.
type clock struct {
	start    time.Time
	before   int // images that were done before
	progress Progress
}

func newClock(done, total int) clock {
	return clock{start: time.Now(), before: done, progress: Progress{Done: done, Total: total}}
}

// tick counts an image and reports the progress.
func (c *clock) tick(report func(Progress)) {
	c.progress.Done++
	if seconds := time.Since(c.start).Seconds(); seconds > 0 {
		c.progress.Rate = float64(c.progress.Done-c.before) / seconds
		c.progress.Left = time.Duration(float64(c.progress.Total-c.progress.Done) / c.progress.Rate * float64(time.Second))
	}
	if report != nil {
		report(c.progress)
	}
}
