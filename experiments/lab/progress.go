package lab

import (
	"fmt"
	"sync"
	"time"
)

// Progress is how far a grid is.
type Progress struct {
	Total, Done, Running, Failed int
	Found                        int           // of Done and Failed, before this grid was asked for
	Left                         time.Duration // 0 while it can't be told
}

// String is the progress line.
func (p Progress) String() string {
	s := fmt.Sprintf("%d of %d trials done, %d running, %d failed", p.Done, p.Total, p.Running, p.Failed)
	if p.Left > 0 {
		s += fmt.Sprintf(", about %s left", p.Left.Round(time.Second))
	}
	return s
}

// counter counts trials and tells of each change.
type counter struct {
	mu       sync.Mutex
	progress Progress
	start    time.Time
	tell     func(Progress)
}

// change moves the counts and tells.
func (c *counter) change(move func(*Progress)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	move(&c.progress)
	p := &c.progress
	p.Left = 0
	if trained := p.Done + p.Failed - p.Found; trained > 0 {
		each := time.Since(c.start) / time.Duration(trained)
		p.Left = each * time.Duration(p.Total-p.Done-p.Failed)
	}
	if c.tell != nil {
		c.tell(*p)
	}
}
