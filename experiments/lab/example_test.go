package lab_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

func ExampleLab_Do() {
	d, err := simulate.Make(simulate.Spec{
		Name: "small", Samples: 160, Dims: 16, Attributes: 9, Groups: 3,
		TrainClasses: 8, ValClasses: 4, TestClasses: 4,
	})
	if err != nil {
		log.Fatal(err)
	}
	root, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(root) }()
	l := lab.New(d, root)
	var trials []train.Trial
	for _, c := range []model.Complement{model.Const, model.DeMorgan} {
		trials = append(trials, train.Trial{
			Dataset: d.Name, Fingerprint: l.Fingerprint(), Stage: train.Dev, Preprocess: preprocess.None,
			Model:    model.Config{Variant: model.SemanticHard, Prior: model.Uniform, Complement: c, Zeta: 10},
			Training: train.Training{Epochs: 3, LearningRate: 0.01, BiasFactor: 1, LearningRateV: 0.1, Batch: 16, Patience: 50},
		})
	}
	done, err := l.Do(context.Background(), trials)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range done {
		if t.Err != nil {
			fmt.Println(t.Dir, t.Err)
			continue
		}
		fmt.Println(t.Model.Complement, "ended by", t.Result.Status, "after", t.Result.Epochs)
	}
	// Output:
	// const ended by epochs after 3
	// demorgan ended by epochs after 3
}

func ExampleParseShard() {
	s, err := lab.ParseShard("2/8")
	fmt.Println(s.Index, "of", s.Count, err)
	_, err = lab.ParseShard("8/8")
	fmt.Println(err)
	// Output:
	// 2 of 8 <nil>
	// shard: expected I/N with I from 0 to N-1, found "8/8"
}
