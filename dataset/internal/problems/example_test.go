package problems_test

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/problems"
)

func ExampleList() {
	var l problems.List
	for line := range 8 {
		l.Add("class", &dataset.Error{File: "labels.csv", Field: fmt.Sprintf("line %d", line+2), Want: "a class"})
	}
	l.AddError(&dataset.Error{File: "splits.csv", Want: "a test class", Got: "none"})
	fmt.Println(l.Err())
	// Output:
	// labels.csv: line 2: expected a class
	// labels.csv: line 3: expected a class
	// labels.csv: line 4: expected a class
	// labels.csv: line 5: expected a class
	// labels.csv: line 6: expected a class
	// labels.csv: expected a class, found 3 more that differ, up to line 9
	// splits.csv: expected a test class, found none
}
