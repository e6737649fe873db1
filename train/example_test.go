package train_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// Read a data set, train LAGO with its defaults on the seen classes, predict the unseen class
// of a sample, and print the group of attributes that favours it most.
func Example() {
	ctx := context.Background()
	d := must(catalog.Open(ctx, "glyphs", catalog.Options{}))
	trial := train.Trial{Method: methods.Variant(model.SemanticHard), Stage: train.Test, Preprocess: "sqrt,l2,whiten", Epochs: 5, Patience: 5}
	dir := must(os.MkdirTemp("", "runs"))
	defer func() { _ = os.RemoveAll(dir) }() // temporary
	must(train.Run(ctx, dir, trial, func() (*train.Data, error) { return train.Prepare(d, trial) }, train.Options{}))
	m := must(train.Load(filepath.Join(dir, trial.Name(), train.ModelFile)))
	rows, unseen := d.SamplesOf(d.Split.Test), d.Describe(d.Split.Test)
	scores := must(model.Score(m, d.Features, rows[:1], unseen)).Data
	ranked := unseen.AllRows()
	slices.SortFunc(ranked, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	name := func(i int) string { return d.Classes[d.Split.Test[i]] }
	fmt.Println("true", d.Classes[d.Labels[rows[0]]], "- predicted", name(ranked[0]))

	detected := must(m.DetectOne(d.Features, rows[0]))
	why := must(must(m.Explainer(unseen)).Explain(detected, ranked[0], ranked[1])).Groups
	best := slices.MaxFunc(why, func(g, h model.GroupContribution) int { return cmp.Compare(g.Contribution, h.Contribution) })
	group := slices.IndexFunc(why, func(g model.GroupContribution) bool { return g.Contribution == best.Contribution })
	fmt.Println("rather than", name(ranked[1]), "by its", d.Groups[group])
	// Output:
	// true F - predicted F
	// rather than P by its curve
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
