package engine

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// MinBudget is two settings to choose from.
const MinBudget = 2

// FurtherSeeds is the number of further seeds of the best settings (supplement A).
const FurtherSeeds = 3

const refiningRounds = 4

// budget is the division of the settings of a search.
type budget struct {
	coarse  int
	refined [refiningRounds]int // around the best of all before
	best    int                 // of all, settings that are run with further seeds
}

// divide gives half of the settings to the coarse search, or two thirds if there are few, the
// others to refining rounds, and further seeds to an eighth of all, at most five.
func divide(settings int) budget {
	b := budget{coarse: min(settings-settings/3, max(settings/2, 8)), best: min(max(settings/8, 1), 5)}
	for i := range settings - b.coarse {
		b.refined[i%refiningRounds]++
	}
	return b
}

// searcher is the search for settings of one method in one part. A budget of 1 tries the
// settings that it starts from alone.
type searcher struct {
	base    config.Config
	space   space
	folds   []lab.View // settings are chosen by the mean over their validation classes
	closed  bool       // the whole grid is tried
	budget  budget
	further int // further seeds of the best settings; 0 for a method without randomness

	Found
	corrections []model.Correction // of which the validation classes choose
	best        []float64          // accuracy of the best settings after each that was tried
	seen        map[string]bool    // names of trials
	waiting     bool               // for other shards
}

// Tried is the result of one combination of settings.
type Tried struct {
	Config    config.Config  `json:"-"`
	Settings  map[string]any `json:"settings"`      // by name
	Accuracy  float64        `json:"val_accuracy"`  // of the first seed, mean over folds
	BestEpoch int            `json:"best_epoch"`    // of the average curve of the folds
	Further   *lab.Summary   `json:"further_seeds"` // validation accuracy; null except for the best
	Epochs    int            `json:"-"`             // of the average curve of the further seeds
	Dirs      []string       `json:"dirs"`          // folders of the runs
}

func newSearcher(base config.Config, folds []lab.View, settings, further int, fixed []string, closed bool) *searcher {
	base = base.On(folds[0].Data) // what is left to the data is searched around, too
	s := &searcher{
		base: base, space: newSpace(base, len(folds[0].Data.Attributes), fixed), folds: folds,
		closed: closed, budget: divide(settings), further: further, seen: map[string]bool{}, Found: Found{Folds: len(folds), Epochs: base.DevEpochs()},
	}
	for _, d := range s.space {
		s.Space = append(s.Space, d.key)
	}
	if settings < MinBudget {
		return s
	}
	if closed {
		s.budget = budget{coarse: len(s.space.grid(base)) + 1}
	}
	own := base.Method.Settings.Correction()
	for _, c := range method.Corrections(base.Method.Settings) {
		if slices.Contains(fixed, "correction") && c.Kind != own.Kind || slices.Contains(fixed, "omega") && c.On() && c.Omega != own.Omega {
			continue
		}
		s.corrections = append(s.corrections, c)
	}
	if len(s.corrections) > 1 {
		s.Space = append(s.Space, method.CorrectionKeys...)
	}
	return s
}

// batch is the settings of one searcher in a round.
type batch struct {
	settings []config.Config
	further  bool // seeds beside the first
	seeds    int
}

// searchAll carries out searches side by side, so that each round is one grid. A search whose
// trials are left to other shards goes no further.
func (r *runner) searchAll(ctx context.Context, searchers []*searcher) error {
	for round := range refiningRounds + 2 {
		name := "refining"
		next := func(s *searcher) batch { return s.refine(s.budget.refined[round-1]) }
		switch round {
		case 0:
			name, next = "coarse", (*searcher).coarse
		case refiningRounds + 1:
			name, next = "further seeds", (*searcher).finest
		}
		batches := make([]batch, len(searchers))
		lists := make([][]train.Trial, len(searchers))
		total := 0
		for i, s := range searchers {
			if !s.waiting {
				batches[i] = next(s)
				lists[i] = s.trialsOf(batches[i])
			}
			s.Trials += len(lists[i])
			total += len(lists[i])
		}
		if total == 0 {
			continue
		}
		r.lab.Step("search: %s, %s", name, format.Count(total, "run"))
		done, err := r.do(ctx, name, lists)
		if err != nil {
			return err
		}
		for i, s := range searchers {
			s.Failed = append(s.Failed, lab.Failures(done[i])...)
			if s.waiting = s.waiting || lab.WaitingFor(name, done[i]) != nil; s.waiting {
				continue
			}
			if err := s.rank(batches[i], done[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// trialsOf lists the trials of a batch: for each settings, for each fold, one per seed.
func (s *searcher) trialsOf(b batch) []train.Trial {
	var trials []train.Trial
	for _, c := range b.settings {
		c.Seeds = b.seeds
		if b.further {
			c.Seed++
		}
		for _, fold := range s.folds {
			trials = append(trials, c.Trials(fold, train.Dev, c.DevEpochs())...)
		}
	}
	return trials
}

// coarse tries the settings that the search starts from, the general defaults, the start
// without preprocessing, and different draws from the space, or all that it has.
func (s *searcher) coarse() batch {
	const spare = 20 // draws for each that is needed; settings that make no difference make some equal
	list := []config.Config{s.base}
	if s.closed && s.budget.coarse > 1 {
		list = append(list, s.space.grid(s.base)...)
	} else if s.budget.coarse > 1 {
		// A preset may be far from the best on other features than its own, and the settings of
		// baselines were published for features as they are.
		list = append(list, s.searched(config.Defaults(s.base.Method).On(s.folds[0].Data)), s.searched(s.base.With("preprocess", preprocess.None)))
		list = append(list, s.space.draw(s.base, spare*s.budget.coarse, s.source(0))...)
	}
	return s.unseen(list, s.budget.coarse)
}

// searched returns the start of the search with those settings of from that are searched.
func (s *searcher) searched(from config.Config) config.Config {
	c := s.base
	for _, d := range s.space {
		c = c.With(d.key, from.Value(d.key))
	}
	return c
}

// refine tries n neighbours of the best settings so far; where those have no more,
// of the next best.
func (s *searcher) refine(n int) batch {
	rng := rand.New(s.source(uint64(len(s.seen))))
	var list []config.Config
	for _, t := range s.Tried {
		list = append(list, s.space.neighbours(t.Config, rng)...)
	}
	return s.unseen(list, n)
}

func (s *searcher) source(stream uint64) rand.Source { return rand.NewPCG(s.base.Seed, stream) }

// unseen returns the first n settings whose trials were not used before, with the correction of
// the start, on which no training depends.
func (s *searcher) unseen(list []config.Config, n int) batch {
	b := batch{seeds: 1}
	for _, c := range list {
		if len(b.settings) == n {
			break
		}
		c = c.WithCorrection(s.base.Method.Settings.Correction())
		one := c
		one.Seeds = 1
		if name := one.Trials(s.folds[0], train.Dev, 1)[0].Name(); !s.seen[name] {
			s.seen[name] = true
			b.settings = append(b.settings, c)
		}
	}
	return b
}

// finest returns the best settings, to run with further seeds.
func (s *searcher) finest() batch {
	b := batch{further: true, seeds: s.further}
	if s.further == 0 || s.budget.coarse < 2 {
		return b
	}
	for _, t := range s.Tried[:min(s.budget.best, len(s.Tried))] {
		b.settings = append(b.settings, t.Config)
	}
	return b
}

// rank ranks new settings among the others, and the best settings by their further seeds
// alone, because the first seed selected them. New settings with a failed trial are left out;
// best ones come after those without.
func (s *searcher) rank(b batch, runs []lab.Run) error {
	each := len(s.folds) * b.seeds
	for i, c := range b.settings {
		part := runs[i*each : (i+1)*each]
		if len(lab.Failures(part)) > 0 {
			continue
		}
		epoch, err := DevEpoch(part)
		if err != nil {
			return err
		}
		accuracy := validation(part)
		if b.further {
			s.Tried[i].Further, s.Tried[i].Epochs = &accuracy, epoch
			continue
		}
		c, mean := s.corrected(c, part, accuracy.Mean)
		s.Tried = append(s.Tried, Tried{Config: c, Settings: s.settings(c), Accuracy: mean, BestEpoch: epoch, Dirs: lab.Dirs(part)})
		s.best = append(s.best, mean)
		if n := len(s.best); n > 1 {
			s.best[n-1] = max(mean, s.best[n-2])
		}
	}
	slices.SortStableFunc(s.Tried, bestFirst)
	return nil
}

// corrected returns c with the correction that does best on the validation classes of its runs, of
// one seed, and the accuracy with it. None is trained again.
func (s *searcher) corrected(c config.Config, runs []lab.Run, accuracy float64) (config.Config, float64) {
	for _, other := range s.corrections {
		var mean float64
		for _, r := range runs {
			for _, of := range r.Result.Corrections {
				if of.Kind == other.Kind && of.Omega == other.Omega {
					mean += of.PerClass / float64(len(runs))
				}
			}
		}
		if mean > accuracy+sumTolerance {
			c, accuracy = c.WithCorrection(other), mean
		}
	}
	return c, accuracy
}

// settings returns the searched settings of c that apply, by key.
func (s *searcher) settings(c config.Config) map[string]any {
	return slices.DeleteFunc(c.Settings().Used(), func(one setting.Setting) bool { return !slices.Contains(s.Space, one.Key) }).Values()
}

// bestFirst orders by the further seeds and, where these are equal or not run, by the first.
func bestFirst(a, b Tried) int {
	of := func(t Tried) lab.Summary {
		if t.Further == nil {
			return lab.Summary{}
		}
		return *t.Further
	}
	return cmp.Or(lab.ByMean(of(a), of(b)), cmp.Compare(b.Accuracy, a.Accuracy))
}

// Found is the result of a search.
type Found struct {
	Folds  int       `json:"folds"`
	Trials int       `json:"trials"` // runs of all folds and seeds
	Epochs int       `json:"epochs"` // of a run, at most
	Space  []string  `json:"space"`  // names of the settings that were searched
	Tried  []Tried   `json:"tried"`  // best first; fewer than the budget if the space has no more
	Edges  []Edge    `json:"-"`
	Failed []lab.Run `json:"-"` // in the order in which they failed
}

// Search finds the settings of the arm of a plan by the paper's procedure (supplement A) on the
// dev stage, over folds of the seen classes: a coarse search of the space, starting from the
// start itself; finer rounds around the best; then further seeds of the best settings, whose
// average chooses and whose average curve gives the number of epochs. Trials that fail count as
// the worst. The error is a *lab.Waiting if a round needs the trials of other shards.
//
// The same plan uses the same trials.
func Search(ctx context.Context, l *lab.Lab, p Plan) (*Found, error) {
	arm := p.Arms[0]
	if out := Allows(l, arm.Starts[0].Method); out != nil {
		return nil, notAllowed(*out)
	}
	folds, err := l.Folds(l.Parts[0], max(p.Folds, 1))
	if err != nil {
		return nil, err
	}
	s := newSearcher(arm.Starts[0], folds, arm.Tune, FurtherSeeds, arm.Fixed, false)
	r := &runner{lab: l, plan: p}
	if err := r.searchAll(ctx, []*searcher{s}); err != nil {
		return nil, err
	}
	if r.waiting != nil {
		return nil, r.waiting
	}
	if len(s.Tried) > 0 {
		s.Edges = s.space.edges(s.Tried[0].Config)
	}
	return &s.Found, nil
}
