package summary_test

import (
	"fmt"
	"os"

	"github.com/lago-train/lago-train/dataset/summary"
)

func ExampleSummary_WriteText() {
	s := summary.Of(animals())
	s.Fingerprint = "(left out here)"
	if err := s.WriteText(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// animals: 12 samples of 5 classes, 3 features each
	// source: made by hand
	// fingerprint: (left out here)
	// descriptions: by 3 attributes, in 2 groups; entries not described: 1
	// ┌───────┬─────────┬─────────┬───────────────┬────────┬─────┐
	// │ part  │ classes │ samples │ min per class │ median │ max │
	// ├───────┼─────────┼─────────┼───────────────┼────────┼─────┤
	// │ train │       2 │       5 │             1 │    2.5 │   4 │
	// │ val   │       1 │       2 │             2 │      2 │   2 │
	// │ test  │       1 │       3 │             3 │      3 │   3 │
	// └───────┴─────────┴─────────┴───────────────┴────────┴─────┘
	// ┌───────┬────────────┬───────────┐
	// │ group │ attributes │ names     │
	// ├───────┼────────────┼───────────┤
	// │ legs  │          2 │ four, six │
	// │ flies │          1 │ flies     │
	// └───────┴────────────┴───────────┘
	// ┌──────────┬───────┬─────────┬──────────────────────┐
	// │ class    │ part  │ samples │ attributes described │
	// ├──────────┼───────┼─────────┼──────────────────────┤
	// │ ant      │ train │       1 │                    3 │
	// │ bee      │ val   │       2 │                    2 │
	// │ cat      │ test  │       3 │                    3 │
	// │ dog      │ train │       4 │                    3 │
	// │ éléphant │       │       2 │                    3 │
	// └──────────┴───────┴─────────┴──────────────────────┘
}
