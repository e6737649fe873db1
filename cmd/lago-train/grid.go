package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/lago-train/lago-train/experiments/lab"
)

// gridFlags are those of every command that carries out many trials.
func gridFlags() []cli.Flag {
	const category = "grid"
	return append(dataFlags(),
		&cli.PathFlag{Name: outFlag, Value: "runs", Category: category, Usage: "`DIR` for the folders of the trials"},
		&cli.IntFlag{Name: jobsFlag, Category: category, DefaultText: "as many as there are cores", Usage: "`N` trials at a time"},
		&cli.StringFlag{Name: "shard", Category: category, Usage: "train only part `I/N` of the trials, I from 0 (default: what Slurm or Kubernetes says, else all)"},
		&cli.BoolFlag{Name: jsonFlag, Usage: "print one JSON object on stdout, accuracies as fractions"},
	)
}

// openLab opens a data set and the lab for its trials as the flags say.
func openLab(c *cli.Context, dataset string, devSplit int) (*lab.Lab, error) {
	shard, err := lab.ShardFromEnvironment()
	if s := c.String("shard"); s != "" {
		shard, err = lab.ParseShard(s)
	}
	if err != nil {
		return nil, err
	}
	d, err := openDataset(c, dataset, devSplit)
	if err != nil {
		return nil, err
	}
	l := lab.New(d, c.Path(outFlag))
	l.Jobs, l.Shard = c.Int(jobsFlag), shard
	l.OnProgress = new(gridProgress).tell
	l.OnRun = func(t lab.Run) {
		entry := logrus.WithField("run", t.Name())
		if t.Err != nil {
			entry.WithError(t.Err).Warn("trial failed")
			return
		}
		entry.WithFields(logrus.Fields{"status": t.Result.Status, "epochs": t.Result.Epochs}).Debug("trial ended")
	}
	return l, nil
}

// gridProgress shows the progress line of a grid on stderr: drawn over itself on a
// terminal, anew every few seconds elsewhere.
type gridProgress struct {
	mu   sync.Mutex
	told time.Time
}

func (g *gridProgress) tell(p lab.Progress) {
	g.mu.Lock()
	defer g.mu.Unlock()
	over := p.Running == 0 && p.Done+p.Failed == p.Total
	if term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprintf(os.Stderr, "\r\x1b[K%s", p)
		if over {
			fmt.Fprintln(os.Stderr)
		}
		return
	}
	if over || time.Since(g.told) >= tellEvery {
		g.told = time.Now()
		fmt.Fprintln(os.Stderr, p)
	}
}
