package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/sirupsen/logrus"
	"golang.org/x/term"

	"github.com/lago-train/lago-train/train"
)

// progress tells how far runs are: a bar on a terminal, a line every few seconds
// elsewhere. Runs beside each other share it.
type progress struct {
	first uint64 // seed
	seeds int

	mu    sync.Mutex
	bar   *progressbar.ProgressBar // of trial; nil where stderr is no terminal
	trial train.Trial
	told  time.Time
}

const tellEvery = 5 * time.Second

func newProgress(first uint64, seeds int) *progress {
	return &progress{first: first, seeds: seeds, told: time.Now()}
}

func (p *progress) resume(t train.Trial, epochs int) {
	logrus.WithFields(logrus.Fields{"run": t.Name(), "epochs": epochs}).Info("goes on from its checkpoint")
}

func (p *progress) epoch(t train.Trial, e train.Epoch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// As in "dev seed 2 of 5".
	name := fmt.Sprintf("%s seed %d of %d", t.Stage, t.Training.Seed-p.first+1, p.seeds)
	accuracy := fmt.Sprintf("train %.1f %%", 100*e.TrainAccuracy)
	if e.ValAccuracy != nil {
		accuracy += fmt.Sprintf(", val %.1f %%", 100**e.ValAccuracy)
	}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		p.draw(t, e, name+": "+accuracy)
		return
	}
	if time.Since(p.told) >= tellEvery {
		p.told = time.Now()
		fmt.Fprintf(os.Stderr, "%s: epoch %d of at most %d, loss %.4f, %s\n", name, e.Epoch, t.Training.Epochs, e.Phases[0].Loss, accuracy)
	}
}

// draw moves the bar. A bar that can't be drawn is no reason to stop.
func (p *progress) draw(t train.Trial, e train.Epoch, text string) {
	if p.bar == nil || t != p.trial {
		p.clear()
		p.trial = t
		p.bar = progressbar.NewOptions(t.Training.Epochs,
			progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionSetWidth(24),
			progressbar.OptionShowCount(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish())
	}
	p.bar.Describe(text)
	_ = p.bar.Set(e.Epoch)
}

func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

// close clears the bar, so that what comes next has the line for itself.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
