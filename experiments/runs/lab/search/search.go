// Package search finds the settings of the arms of a plan on the dev stage (supplement A of the paper), by
// the same search for LAGO and for every baseline, and carries out the plan with them.
package search

import (
	"context"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/train/methods"
)

// entry is an arm in one part, with a search around each of its starts.
type entry struct {
	lab.Entry
	searches []*search
	found    []state    // of the searches
	finals   []finalist // in the order of the starts of the second plan
}

// finalist is settings that are trained to the end with all seeds, and the search that found them.
type finalist struct {
	*search
	*lab.Tried
}

// Run carries out a plan. For each arm and part, settings are searched on the dev stage; the two best are
// trained to the end with all seeds, and the validation classes choose between them. See lab.Plan.Run for the
// errors.
func Run(ctx context.Context, l *lab.Lab, p lab.Plan) (*lab.Outcomes, error) {
	searched := func(a lab.Arm) bool { return len(a.Starts) > 1 || a.Tune >= lab.MinBudget }
	if p.Stage == config.OnlyTest || !slices.ContainsFunc(p.Arms, searched) {
		return p.Run(ctx, l)
	}
	planned, leftOut, err := p.Entries(l)
	if err != nil {
		return nil, err
	}
	entries, err := entriesOf(p, planned)
	if err != nil {
		return nil, err
	}
	if err := searchAll(ctx, l, entries); err != nil {
		return nil, err
	}
	second := lab.Plan{Stage: p.Stage, Folds: p.Folds}
	outcomes := make([]*lab.Outcome, len(entries))
	var of []int // the entry of each arm of the second plan
	for i := range entries {
		e := &entries[i]
		arm := p.Arms[e.Arm]
		arm.Starts, arm.Corrections, arm.Parts = nil, nil, []lab.View{e.Part}
		e.finals = e.finalists()
		for _, f := range e.finals {
			arm.Starts = append(arm.Starts, f.Config)
			arm.Corrections = append(arm.Corrections, f.corrections)
		}
		outcomes[i] = &lab.Outcome{Part: e.Part, Folds: e.Folds, Chosen: e.Starts[0], Best: -1}
		if arm.Starts != nil {
			second.Arms, of = append(second.Arms, arm), append(of, i)
		}
	}
	done, err := second.Run(ctx, l)
	if err != nil {
		return nil, err
	}
	for i, arm := range done.Arms {
		outcomes[of[i]] = arm[0]
	}
	for i := range entries {
		entries[i].report(outcomes[i])
	}
	return lab.NewOutcomes(p, planned, outcomes, leftOut)
}

// entriesOf adds the searches to entries. Arms with the same start share its search in a part.
func entriesOf(p lab.Plan, planned []lab.Entry) ([]entry, error) {
	shared := map[string]*search{}
	entries := make([]entry, len(planned))
	for i, e := range planned {
		entries[i].Entry = e
		arm := p.Arms[e.Arm]
		for _, c := range e.Starts {
			found, err := methods.Find(c.Method.Name)
			if err != nil {
				return nil, err
			}
			tune := max(arm.Tune/len(arm.Starts), 1)
			trial := lab.DevTrials(c, e.Folds[:1], 1, 1)[0].Name()
			key := fmt.Sprint(e.Part.Fingerprint, tune, arm.Fixed, trial, c.Correction, c.Epochs)
			if shared[key] == nil {
				shared[key] = newSearch(c, e.Folds, tune, arm.Fixed, found)
			}
			entries[i].searches = append(entries[i].searches, shared[key])
		}
	}
	return entries, nil
}

// searchAll carries out the searches of all entries, each once. Where nothing is to be chosen, the start was
// tried.
func searchAll(ctx context.Context, l *lab.Lab, entries []entry) error {
	var searches []*search
	for _, e := range entries {
		for _, s := range e.searches {
			if (s.budget.coarse > 1 || len(e.searches) > 1) && !slices.Contains(searches, s) {
				searches = append(searches, s)
			}
		}
	}
	states, err := all(ctx, l, searches)
	if err != nil {
		return err
	}
	for i, e := range entries {
		for _, s := range e.searches {
			if k := slices.Index(searches, s); k < 0 {
				entries[i].found = append(entries[i].found, state{tried: []lab.Tried{{Config: s.base}}})
			} else {
				entries[i].found = append(entries[i].found, states[k])
			}
		}
	}
	return nil
}

// finalists are the two best settings; of several searches, those of the variants of LAGO, the best of
// each of the two best. There are none before all searches ended.
func (e *entry) finalists() (list []finalist) {
	each := max(3-len(e.found), 1)
	for i, st := range e.found {
		if lab.StillWaiting(st.missing) != nil {
			return nil
		}
		for k := range st.tried[:min(each, len(st.tried))] {
			list = append(list, finalist{e.searches[i], &st.tried[k]})
		}
	}
	slices.SortStableFunc(list, func(a, b finalist) int { return bestFirst(*a.Tried, *b.Tried) })
	return list[:min(2, len(list))]
}

// report adds what the searches tried to the outcome of their finalists.
func (e *entry) report(o *lab.Outcome) {
	o.Searched = lab.Searched{
		Corrections: max(len(e.searches[0].corrections), 1), Keys: e.searches[0].searched,
	}
	for k, final := range o.Finals {
		f := e.finals[k]
		if f.Config, f.Final = final.Config, final.Accuracy; f.Final != nil {
			f.Settings = f.settings(f.Config)
		}
		if k == o.Best && f.budget.coarse > 1 {
			o.Edges = append(f.space.edges(f.Config), o.Edges...)
		}
	}
	var missing []lab.Missing
	for _, st := range e.found {
		missing = append(missing, st.missing...)
		o.Tried = append(o.Tried, st.tried...)
	}
	o.Missing = append(missing, o.Missing...)
	slices.SortStableFunc(o.Tried, bestFirst)
}
