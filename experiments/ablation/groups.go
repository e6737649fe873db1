package ablation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// GroupsKind is the first word of the names of stored results of Groups.
const GroupsKind = "semantic-groups"

// randomDraws is the number of random groupings.
const randomDraws = 5

// Groups asks for the accuracy of a variant with the groups of the data set and with others: the
// paper's claim that semantic groups help.
type Groups struct{ Base config.Config }

// Ask trains a variant with semantic groups by the full protocol with these, with singletons (their
// own defaults, and the settings of the variant), and with random groups of the same sizes, and
// stores the result.
func (c Groups) Ask(ctx context.Context, l *lab.Lab) (results.Result, error) {
	base := c.Base.On(l.Data)
	singletons := base.WithMethodOf(config.Defaults(methods.Variant(model.Singletons)))
	singletons.Preprocess = config.AutoPreprocess
	var random []lab.View
	for seed := range randomDraws {
		for _, part := range l.Parts {
			random = append(random, l.ViewOf(shuffled(part, uint64(seed))))
		}
	}
	const semantic = "semantic"
	a := results.NewAccuracies(l, GroupsKind, "by groups of attributes", base, "test")
	a.Columns, a.Minus = []string{"groups"}, "semantic minus these"
	a.Notes = []string{fmt.Sprintf("random: mean over %d draws, with the sizes of the semantic groups; p: by permutation, Holm", randomDraws)}
	for _, kind := range []struct {
		name  string
		start config.Config
		parts []lab.View
	}{
		{semantic, base, l.Parts},
		{"singletons", singletons, l.Parts},
		{"singletons, same settings", base.With("variant", model.Singletons), l.Parts},
		{"random, same sizes", base, random},
	} {
		l.Step("groups: %s", kind.name)
		plan := engine.Plan{Arms: []engine.Arm{{Name: kind.name, Starts: []config.Config{kind.start}}}, Stage: config.DevThenTest}
		done, err := engine.Run(ctx, l.On(kind.parts...), plan)
		if err != nil {
			return nil, err
		}
		a.Missing = append(a.Missing, done.Missing...)
		for _, m := range results.Methods(done) { // otherwise Missing says why
			a.Add(results.Row{Labels: []string{kind.name}, Reference: kind.name == semantic, Draws: len(kind.parts) / len(l.Parts)}, &m.Test)
		}
	}
	results.CorrectP(a.Compare(semantic, true))
	return a, l.Store(GroupsKind, base, a)
}

// shuffled returns the data of a part with the groups of the attributes in random order.
func shuffled(part lab.View, seed uint64) *dataset.Dataset {
	d := *part.Data
	d.Attributes = slices.Clone(d.Attributes)
	for i, from := range rand.New(rand.NewPCG(seed, 0)).Perm(len(d.Attributes)) {
		d.Attributes[i].Group = part.Data.Attributes[from].Group
	}
	return &d
}
