package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/experiments"
	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/grouping"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// study is the command of a study, and what some commands do beside.
type study struct {
	gridOptions
	question experiments.Question
	settings setting.List // of the command alone
	instead  func(c *call) (done bool, err error)
	prepare  func(l *lab.Lab)
	finish   func(results.Result)
}

// csvOf says what --csv of a study writes.
var csvOf = map[string]string{"compare": "the accuracy of each method on each class"}

// studyCommands are the commands of studies.
func studyCommands() (list []*command) {
	for _, entry := range experiments.Studies {
		s := &study{question: entry.New()}
		switch q := s.question.(type) {
		case *protocol.Method:
			s.ofMethod(q)
		case *grouping.Analysis:
			s.ofGroups(q)
		}
		if what := csvOf[entry.Command]; what != "" {
			s.settings = append(s.settings, csvSetting(&s.csv, what))
		}
		list = append(list, s.command(entry.Command))
	}
	return list
}

// command resolves the settings that the flags give, opens the lab of their data set, asks, and
// prints the result.
func (s *study) command(name string) *command {
	grid := s.gridSettings()
	if name == "run" { // which is never divided
		grid = grid.Without("shard")
	}
	return &command{name: name, graceful: true, flags: slices.Concat(s.question.Settings(&s.request), grid, s.settings), run: func(c *call) error {
		s.read(c)
		if s.instead != nil {
			if done, err := s.instead(c); done || err != nil {
				return err
			}
		}
		presets, err := s.question.Resolve(c, &s.request)
		if err != nil {
			return err
		}
		l, err := s.openLab(c, presets...)
		if err != nil {
			return err
		}
		if s.prepare != nil {
			s.prepare(l)
		}
		r, err := s.question.Ask(c, l)
		if err != nil {
			return err
		}
		if s.finish != nil {
			s.finish(r)
		}
		err = s.print(r, nil)
		if w, ok := r.(interface{ WriteCSV(io.Writer) error }); ok {
			err = errors.Join(err, writeCSV(s.csv, w.WriteCSV))
		}
		if err == nil && l.Failed() > 0 {
			err = fmt.Errorf("%s failed in %s, missing from the output", format.Count(l.Failed(), "run"), l.Root)
		}
		return err
	}}
}

// ofMethod is for run: it prints the settings alone if that is asked, shows epochs, and names the next command.
func (s *study) ofMethod(q *protocol.Method) {
	var printOnly bool
	s.settings = setting.List{
		setting.Switch("print_config", &printOnly, false).In(outputGroup).Common().Describe("print the settings as JSON for --config, and train nothing"),
	}
	s.instead = func(c *call) (bool, error) {
		if _, err := q.Resolve(c, &s.request); err != nil || !printOnly {
			s.jobs = cmp.Or(s.jobs, min(q.Seeds, runtime.GOMAXPROCS(0)))
			return false, err
		}
		return true, printConfig(os.Stdout, os.Stderr, q.Preset)
	}
	s.prepare = func(l *lab.Lab) {
		logrus.WithFields(logrus.Fields{"dataset": l.Data.Name, "variant": q.Method.Label(), "stage": q.Stage, "seeds": q.Seeds}).Info("training")
		logrus.WithField("blas", blas.Current().String()).Debug(q.Source)
		l.OnProgress, l.Options.OnResume, l.Options.OnEpoch = nil, logResume, showEpochs(q.Seed, q.Seeds, l.Jobs)
	}
	s.finish = func(r results.Result) {
		found := r.(*protocol.Result)
		found.Next = s.next(found)
	}
}

// ofGroups is for groups: with --model nothing is trained.
func (s *study) ofGroups(q *grouping.Analysis) {
	var name string
	s.settings = setting.List{modelSetting(&name)}
	s.instead = func(c *call) (bool, error) {
		if name == "" {
			return false, nil
		}
		return true, s.print(s.groupsOf(c, name, q))
	}
}

// groupsOf analyses the model of --model on the data set that it was trained on.
func (s *study) groupsOf(c *call, name string, q *grouping.Analysis) (*grouping.Result, error) {
	ofTraining := []string{"config", "jobs", "shard", "out"}
	for _, key := range s.request.Keys() {
		ofTraining = append(ofTraining, flagOf(key))
	}
	if err := excludes(c, "model", ofTraining...); err != nil {
		return nil, err
	}
	m, err := openModel(name)
	if err != nil {
		return nil, err
	}
	d, err := openData(c, m, "", s.Options)
	if err != nil {
		return nil, err
	}
	r, err := grouping.Run(d, m.Saved, q.Config)
	if err == nil {
		r.Top = q.Top
	}
	return r, err
}

// methodNames are the variants of LAGO and the baselines.
func methodNames() []string { return append(format.Strings(model.Variants), methods.Names()[1:]...) }

// next is the command to go on with: it evaluates a model or, without a test stage, searches settings.
func (o *gridOptions) next(r *protocol.Result) string {
	command := "lago-train evaluate --model " + r.RunDirs[len(r.RunDirs)-1]
	if r.Test == nil {
		command = fmt.Sprintf("lago-train search --dataset %s --variant %s", r.Config.Dataset, r.Variant)
	} else if r.Reused == 0 {
		command = "lago-train evaluate --model " + strings.TrimPrefix(filepath.Join(o.out, latest), defaultRuns+string(filepath.Separator))
	}
	if o.DataDir != "" {
		command += " --data-dir " + o.DataDir
	}
	return command
}

// printConfig writes the settings that apply to a run, and where each comes from.
func printConfig(stdout, stderr io.Writer, p config.Preset) error {
	p.Epochs = p.EpochsOf()
	for _, s := range p.Settings().Used() {
		origin := cmp.Or(p.Origins[s.Key], "default")
		if origin == config.FromPreset {
			origin += ": " + p.Source
		}
		if _, err := fmt.Fprintf(stderr, "%-12s %-14v %s\n", s.Key, s.Value(), origin); err != nil {
			return err
		}
	}
	return format.WriteJSON(stdout, p.Config)
}
