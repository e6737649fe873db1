package lab_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

func ExampleLab_Do() {
	d := tiny.Small()
	root, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(root) }()
	l := lab.New(d, root)
	var trials []train.Trial
	for _, name := range []string{"semantic-hard", "eszsl"} {
		m, err := methods.Parse(name)
		if err != nil {
			log.Fatal(err)
		}
		trials = append(trials, train.Trial{
			Dataset: d.Name, Fingerprint: l.Fingerprint(), Stage: train.Dev, Preprocess: preprocess.None, Epochs: 3, Patience: 50, Method: m,
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
		fmt.Println(t.Method.Label(), "ended by", t.Result.Status, "after", t.Result.Epochs)
	}
	// Output:
	// semantic-hard ended by epochs after 3
	// eszsl ended by converged after 1
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
