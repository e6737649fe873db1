package lab

import (
	"fmt"
	"sync"
	"time"
)

// Progress counts the trials of a grid.
type Progress struct {
	Total, Done, Running, Failed int
	Found                        int           // part of Done and Failed that was finished before
	Left                         time.Duration // estimate, 0 while there is none
}

// String is the progress line.
func (p Progress) String() string {
	s := fmt.Sprintf("%d of %d runs done, %d running, %d failed", p.Done, p.Total, p.Running, p.Failed)
	if p.Left > 0 {
		s += fmt.Sprintf(", about %s left", p.Left.Round(time.Second))
	}
	return s
}

// counter counts trials and reports each change.
type counter struct {
	mu         sync.Mutex
	progress   Progress
	start      time.Time
	onProgress func(Progress)
}

// change moves the counts and reports them.
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
	if c.onProgress != nil {
		c.onProgress(*p)
	}
}
