package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/sirupsen/logrus"
	"golang.org/x/term"

	"github.com/lago-train/lago-train/experiments"
	"github.com/lago-train/lago-train/train"
)

// progress tells how far a run is: a bar on a terminal, a line every few seconds
// elsewhere.
type progress struct {
	config  experiments.Config
	bar     *progressbar.ProgressBar // nil where stderr is no terminal
	trial   train.Trial
	told    time.Time
	started bool
}

const tellEvery = 5 * time.Second

func newProgress(c experiments.Config) *progress {
	return &progress{config: c, told: time.Now()}
}

// begin starts the bar of a trial.
func (p *progress) begin(t train.Trial) {
	if p.started && t == p.trial {
		return
	}
	p.close()
	p.trial, p.started = t, true
	if term.IsTerminal(int(os.Stderr.Fd())) {
		p.bar = progressbar.NewOptions(t.Training.Epochs,
			progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionSetDescription(p.name()),
			progressbar.OptionSetWidth(24),
			progressbar.OptionShowCount(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish())
	}
}

// name says which of the runs this is, as in "dev seed 2 of 5".
func (p *progress) name() string {
	return fmt.Sprintf("%s seed %d of %d", p.trial.Stage, p.trial.Training.Seed-p.config.Seed+1, p.config.Seeds)
}

func (p *progress) resume(t train.Trial, epochs int) {
	logrus.WithFields(logrus.Fields{"run": t.Name(), "epochs": epochs}).Info("goes on from its checkpoint")
}

func (p *progress) epoch(t train.Trial, e train.Epoch) {
	p.begin(t)
	accuracy := fmt.Sprintf("train %.1f %%", 100*e.TrainAccuracy)
	if e.ValAccuracy != nil {
		accuracy += fmt.Sprintf(", val %.1f %%", 100**e.ValAccuracy)
	}
	if p.bar != nil {
		p.bar.Describe(p.name() + ": " + accuracy)
		_ = p.bar.Set(e.Epoch) // a bar that can't be drawn is no reason to stop
		return
	}
	if time.Since(p.told) < tellEvery {
		return
	}
	p.told = time.Now()
	fmt.Fprintf(os.Stderr, "%s: epoch %d of at most %d, loss %.4f, %s\n", p.name(), e.Epoch, t.Training.Epochs, e.Phases[0].Loss, accuracy)
}

// close ends the bar of the trial at hand.
func (p *progress) close() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}
