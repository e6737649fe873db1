package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/internal/format"
)

// fetchProgress tells how far a fetch is: a bar on a terminal, a line every few
// seconds elsewhere.
type fetchProgress struct {
	to    io.Writer
	step  string
	total int64                    // of step, which a server may change its mind of
	bar   *progressbar.ProgressBar // of both; nil where there is no terminal
	told  time.Time
	speed speed
}

func (p *fetchProgress) tell(f fetch.Progress) {
	now := time.Now()
	if f.Step != p.step || f.Total != p.total {
		p.clear()
		p.step, p.total, p.told, p.speed = f.Step, f.Total, now, speed{}
	}
	p.speed.add(now, f.Done)
	if term.IsTerminal(int(os.Stderr.Fd())) {
		p.draw(f, now)
		return
	}
	if now.Sub(p.told) >= tellEvery {
		p.told = now
		_, _ = fmt.Fprintln(p.to, p.text(f)) // progress that can't be told is no reason to stop
	}
}

const redrawEvery = 100 * time.Millisecond

func (p *fetchProgress) draw(f fetch.Progress, now time.Time) {
	if p.bar != nil && now.Sub(p.told) < redrawEvery {
		return
	}
	p.told = now
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(f.Total,
			progressbar.OptionSetWriter(p.to),
			progressbar.OptionSetWidth(20),
			// The text has what is to be said; the bar's own time and speed take what an
			// earlier command downloaded for its own.
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set64(f.Done)
	p.bar.Describe(p.text(f))
}

// clear clears the bar, so that what comes next has the line for itself.
func (p *fetchProgress) clear() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

// text is as in "downloading features: 300.1 MB of 879.0 MB, 12.0 MB/s, 48s left".
func (p *fetchProgress) text(f fetch.Progress) string {
	s := f.Step + ": " + format.Bytes(f.Done)
	if f.Total >= 0 {
		s += " of " + format.Bytes(f.Total)
	}
	rate := p.speed.perSecond()
	if rate <= 0 {
		return s
	}
	s += fmt.Sprintf(", %s/s", format.Bytes(int64(rate)))
	if left := float64(f.Total-f.Done) / rate; f.Total >= 0 && left < 1e6 {
		s += fmt.Sprintf(", %v left", time.Duration(left)*time.Second)
	}
	return s
}

// speedOver is the time over which a speed is a mean.
const speedOver = 10 * time.Second

// speed is that of a download in the last seconds. What was there before the first
// sample is not part of it.
type speed struct{ samples []sample }

type sample struct {
	at   time.Time
	done int64
}

func (s *speed) add(at time.Time, done int64) {
	if n := len(s.samples); n > 0 && done < s.samples[n-1].done {
		s.samples = nil // it began anew
	}
	// A sample in a while is enough; the last is always the newest.
	if n := len(s.samples); n > 1 && at.Sub(s.samples[n-2].at) < speedOver/50 {
		s.samples[n-1] = sample{at, done}
		return
	}
	s.samples = append(s.samples, sample{at, done})
	for len(s.samples) > 2 && at.Sub(s.samples[0].at) > speedOver {
		s.samples = s.samples[1:]
	}
}

// perSecond is in bytes; 0 where it can't be told yet.
func (s *speed) perSecond() float64 {
	if len(s.samples) < 2 {
		return 0
	}
	first, last := s.samples[0], s.samples[len(s.samples)-1]
	seconds := last.at.Sub(first.at).Seconds()
	if seconds <= 0 {
		return 0
	}
	return float64(last.done-first.done) / seconds
}
