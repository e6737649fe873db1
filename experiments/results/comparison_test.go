package results

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/lab"
)

// The most accurate method comes first unless methods are ordered, and there is no column of published
// numbers without any.
func TestMethodsAreSortedByAccuracy(t *testing.T) {
	row := func(name string, accuracy float64) Method {
		return Method{Name: name, Title: name, Test: Measured{PerClass: lab.Summarise([]float64{accuracy})}}
	}
	c := &Comparison{Methods: []Method{row("a", 0.2), row("b", 0.4), row("c", 0.3)}}
	order := regexp.MustCompile(`(?s)│ b .*│ c .*│ a `)
	if text := c.Tables()[0].Text(1000, 0); !order.MatchString(text) || strings.Contains(text, "published") {
		t.Errorf("found\n%s", text)
	}
	c.Methods[0].Published, c.Ordered = "51.3", true
	if text := c.Tables()[0].Text(1000, 0); order.MatchString(text) || !strings.Contains(text, "│      51.3 │") {
		t.Errorf("expected the methods in their order, and published numbers:\n%s", text)
	}
}
