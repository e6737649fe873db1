package tuning

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/train"
)

// Method is the result of one method by the protocol.
type Method struct {
	Name      string             `json:"name"`
	Title     string             `json:"title"`             // in tables and figures
	Variant   string             `json:"variant,omitempty"` // of LAGO; "mixed" if the parts chose different ones
	Val       *protocol.Measured `json:"val"`
	Test      *protocol.Measured `json:"test"`
	Seconds   float64            `json:"seconds"`                     // to train one model on train and validation classes
	Tried     int                `json:"tried"`                       // number of settings in each part
	Parts     []Part             `json:"parts"`                       // one, or one for each part of a rotation
	Published string             `json:"published_percent,omitempty"` // test accuracy in table A.1, a number or a range
	RunDirs   []string           `json:"run_dirs"`
	Adapted   *Adapted           `json:"adapted,omitempty"` // if Config.Adapt is set

	Models []string `json:"-"` // files of those that were evaluated on the test classes
}

// Part is what a method chose without the test classes of one part.
type Part struct {
	Variant  string         `json:"variant,omitempty"`
	Epochs   int            `json:"epochs"` // on train and validation classes
	Settings map[string]any `json:"settings"`
	Edges    []Edge         `json:"edges"` // settings at an end of the searched values
}

// Mixed is the Variant of a Method whose parts chose different variants.
const Mixed = "mixed"

// Label names the method and, for LAGO, the chosen variant.
func (m Method) Label() string {
	if m.Name == LAGOMethod {
		return fmt.Sprintf("LAGO (%s)", m.Variant)
	}
	return m.Title
}

// Chosen describes what each part chose, one line each.
func (m Method) Chosen() []string {
	var lines []string
	for i, p := range m.Parts {
		line := m.Name
		if len(m.Parts) > 1 {
			line += fmt.Sprintf(", part %d", i+1)
		}
		line += ": " + format.Count(p.Epochs, "epoch")
		if m.Name == LAGOMethod {
			line += ", " + p.Variant
		}
		for _, name := range slices.Sorted(maps.Keys(p.Settings)) {
			line += fmt.Sprintf(", %s %v", name, p.Settings[name])
		}
		for j, e := range p.Edges {
			if j == 0 {
				line += "; at an end of the searched values: "
			} else {
				line += ", "
			}
			line += e.Setting
		}
		lines = append(lines, line)
	}
	return lines
}

// Methods is the result of several methods.
type Methods struct {
	Rows    []Method           `json:"methods"`
	Missing []lab.Missing      `json:"missing"`
	LeftOut []protocol.LeftOut `json:"left_out"` // variants that the data set does not allow
}

// BaselineBudget is the number of settings that Baselines tries.
const BaselineBudget = 16

// Baselines runs baselines with the preprocessing, seeds, epochs, patience and held-out
// samples of like, and the best of BaselineBudget settings. If it has to wait for other
// shards, Missing says so.
func Baselines(ctx context.Context, l *lab.Lab, names []string, like protocol.Config) (*Methods, error) {
	if len(names) == 0 {
		return &Methods{}, nil
	}
	r, err := Run(ctx, l, Config{Methods: names, Common: like, Budget: BaselineBudget, Folds: 1, Given: []string{"preprocess", "ridge"}})
	if waiting := (*lab.Waiting)(nil); errors.As(err, &waiting) {
		return &Methods{Missing: []lab.Missing{{Dir: l.Root, Why: waiting.Error()}}}, nil
	}
	return r, err
}

// Run trains and evaluates every method of c by one protocol, on each part of the lab:
// settings are searched over folds of the seen classes, with the first seed and further
// ones; the dev stage over all seeds decides between the two best variants of LAGO and
// gives the number of epochs on train and validation classes together; those models are
// evaluated once on the test classes. The error is a *lab.Waiting while other shards have
// not finished their trials of a round.
func Run(ctx context.Context, l *lab.Lab, c Config) (*Methods, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	r := &Methods{Rows: []Method{}, Missing: []lab.Missing{}, LeftOut: []protocol.LeftOut{}}
	contenders, searchers, err := c.contenders(l, r)
	if err != nil {
		return nil, err
	}
	if err := searchAll(ctx, l, searchers, c.OnRound); err != nil {
		return nil, err
	}
	if err := develop(ctx, l, contenders); err != nil {
		return nil, err
	}
	if err := evaluate(ctx, l, contenders); err != nil {
		return nil, err
	}
	var parts [][]*contender // of each row
	for _, name := range c.Methods {
		all := slices.DeleteFunc(slices.Clone(contenders), func(m *contender) bool { return m.name != name })
		complete := len(all) > 0
		for _, m := range all {
			for _, missing := range lab.MissingOf(m.failed) {
				if !slices.Contains(r.Missing, missing) { // variants are part of LAGO, too
					r.Missing = append(r.Missing, missing)
				}
			}
			complete = complete && len(m.test) > 0
		}
		if complete {
			r.Rows, parts = append(r.Rows, row(all, l.Data.Name)), append(parts, all)
		}
	}
	if c.Adapt {
		return r, adaptRows(ctx, r.Rows, parts, c.OnAdapt)
	}
	return r, nil
}

// contender is a method in one part.
type contender struct {
	name, title string
	part        lab.View
	searchers   []*searcher // one; for LAGO one per variant
	seeds       int

	chosen *searcher // the finalist with the best mean validation accuracy over all seeds
	epochs int
	val    []lab.Run
	test   []lab.Run
	failed []lab.Run
}

// contenders returns the methods in each part, and the searches of their settings.
func (c Config) contenders(l *lab.Lab, r *Methods) (all []*contender, searchers []*searcher, err error) {
	for _, config := range c.LAGO {
		if out := protocol.Allows(l, config.Variant); out != nil {
			r.LeftOut = append(r.LeftOut, *out)
		}
	}
	for _, part := range l.Parts {
		folds, err := l.Folds(part, max(c.Folds, 1))
		if err != nil {
			return nil, nil, err
		}
		variants := map[string]*searcher{}
		var feasible []*searcher
		for _, config := range c.LAGO {
			if protocol.Allows(l, config.Variant) == nil {
				s := newSearcher(string(config.Variant), candidate{config: config}, folds, c.settings(), c.further(), c.Given)
				variants[s.name] = s
				feasible = append(feasible, s)
			}
		}
		searchers = append(searchers, feasible...)
		for _, name := range c.Methods {
			m := &contender{name: name, part: part, seeds: c.Common.Seeds}
			baseline, err := methods.Find(name)
			switch {
			case err == nil:
				s, err := c.baselineSearcher(baseline, folds)
				if err != nil {
					return nil, nil, err
				}
				searchers = append(searchers, s)
				m.title, m.searchers = baseline.Title, []*searcher{s}
				if !baseline.Seeded {
					m.seeds = 1
				}
			case name == LAGOMethod:
				m.title, m.searchers = published.ResultRow, feasible
			case variants[name] != nil:
				m.title, m.searchers = published.Method(model.Variant(name)), []*searcher{variants[name]}
			}
			if len(m.searchers) > 0 {
				all = append(all, m)
			}
		}
	}
	return all, searchers, nil
}

// baselineSearcher starts from the defaults of a baseline with the fixed settings.
func (c Config) baselineSearcher(m methods.Method, folds []lab.View) (*searcher, error) {
	base := baselineCandidate(m, c.Common)
	fixed := slices.Clone(c.Given)
	for _, f := range c.Fixed {
		if f.Method != m.Name {
			continue
		}
		var err error
		if base.spec, err = base.spec.Set(f.Setting, f.Value); err != nil {
			return nil, err
		}
		fixed = append(fixed, f.Setting)
	}
	if err := base.spec.Check(); err != nil {
		return nil, err
	}
	further := 0
	if m.Seeded {
		further = c.further()
	}
	return newSearcher(m.Name, base, folds, c.settings(), further, fixed), nil
}

// finalists are the searches whose best settings run with all seeds: of LAGO those of the
// two best variants, because the others are rarely better and take as long.
func (m *contender) finalists() []*searcher {
	found := slices.DeleteFunc(slices.Clone(m.searchers), func(s *searcher) bool { return len(s.tried) == 0 })
	slices.SortStableFunc(found, func(a, b *searcher) int { return bestFirst(a.tried[0], b.tried[0]) })
	return found[:min(2, len(found))]
}

// develop runs the dev stage of the finalists with all seeds, over the folds, and chooses
// between them.
func develop(ctx context.Context, l *lab.Lab, contenders []*contender) error {
	var lists [][]train.Trial
	for _, m := range contenders {
		for _, s := range m.finalists() {
			best := s.tried[0]
			var trials []train.Trial
			for _, fold := range s.folds {
				trials = append(trials, best.trials(fold, train.Dev, best.config.DevEpochs(), m.seeds)...)
			}
			lists = append(lists, trials)
		}
	}
	done, err := doAll(ctx, l, "development", lists)
	if err != nil {
		return err
	}
	for _, m := range contenders {
		for _, s := range m.searchers {
			m.failed = append(m.failed, s.failed...)
		}
		best := -1.0
		for _, s := range m.finalists() {
			runs := done[0]
			done = done[1:]
			if failures := lab.Failures(runs); len(failures) > 0 {
				m.failed = append(m.failed, failures...)
				continue
			}
			if mean := accuracy(runs).Mean; mean > best {
				best, m.chosen, m.val = mean, s, runs
			}
		}
		if m.val == nil {
			continue
		}
		if m.epochs, err = protocol.DevEpoch(m.val); err != nil {
			return err
		}
	}
	return nil
}

// evaluate runs the test stage of what was chosen.
func evaluate(ctx context.Context, l *lab.Lab, contenders []*contender) error {
	lists := make([][]train.Trial, len(contenders))
	for i, m := range contenders {
		if m.val != nil {
			lists[i] = m.chosen.tried[0].trials(m.part, train.Test, m.epochs, m.seeds)
		}
	}
	done, err := doAll(ctx, l, "evaluation", lists)
	if err != nil {
		return err
	}
	for i, m := range contenders {
		if failed := lab.Failures(done[i]); len(failed) > 0 {
			m.failed = append(m.failed, failed...)
			continue
		}
		m.test = done[i]
	}
	return nil
}

// row is the result of a method over its parts.
func row(parts []*contender, dataset string) Method {
	r := Method{Name: parts[0].name, Title: parts[0].title, Parts: []Part{}}
	var val, test []lab.Run
	for i, m := range parts {
		best := m.chosen.tried[0].candidate
		p := Part{Epochs: m.epochs, Settings: best.settings(), Edges: m.chosen.space.edges(best)}
		if best.spec.Method == "" {
			p.Variant = m.chosen.name
		}
		if i == 0 {
			r.Variant = p.Variant
		} else if r.Variant != p.Variant {
			r.Variant = Mixed
		}
		r.Parts = append(r.Parts, p)
		val, test = append(val, m.val...), append(test, m.test...)
	}
	for _, s := range parts[0].searchers {
		r.Tried += len(s.tried)
	}
	r.Val, r.Test, r.Models = protocol.Measure(val), protocol.Measure(test), protocol.ModelFiles(test)
	r.Published, _ = published.TestAccuracy(dataset, r.Title)
	for _, run := range slices.Concat(val, test) {
		r.RunDirs = append(r.RunDirs, run.Dir)
	}
	for _, run := range test {
		r.Seconds += run.Result.Seconds / float64(len(test))
	}
	return r
}
