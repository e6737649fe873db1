package format_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/testkit"
)

func Example() {
	fmt.Println(format.Count(1, "class"), format.Count(2, "class"), format.Percent(0.6254), format.Points(-0.2), format.Bytes(1_500_000))
	fmt.Println(format.ClassName("002.Laysan_Albatross"), format.AttributeName("has_wing_color::olive"), format.List([]string{"a", "b", "c"}, "or"))
	// Output:
	// 1 class 2 classes 62.5 % -20.0 1.5 MB
	// Laysan Albatross wing color: olive a, b or c
}

func TestTexts(t *testing.T) {
	for _, c := range [][2]string{
		{format.Percent(math.NaN()), "-"},
		{format.Points(0), "+0.0"},
		{format.Points(-0.0001), "+0.0"},
		{format.Points(-0.0625), "-6.3"},
		{format.Percent(0.9375), "93.8 %"},
		{format.Percent(math.Nextafter(0.9375, 0)), "93.8 %"},
		{format.Setting(math.Pow(2, -14)), "6.1e-05"},
		{format.Setting(123456.), "123456"},
		{format.List(nil, "or"), ""},
		{format.List([]string{"a"}, "or"), "a"},
		{format.Printable("a\x1b[31mb\n\u200ec"), "a\uFFFD[31mb\uFFFD\uFFFDc"},
		{format.Printable("می\u200cرود"), "می\u200cرود"},
		{format.Isolate("  عقاب 1  "), "  \u2068عقاب 1\u2069  "},
		{format.Isolate("  owl 1  "), "  owl 1  "},
		{format.AttributeName("has_"), "has "},
		{format.Bytes(999), "999 B"},
		{format.Bytes(1000), "1.0 kB"},
		{format.Bytes(999_950), "1.0 MB"},
		{format.Bytes(math.MaxInt64), "9.2 EB"},
	} {
		testkit.Equal(t, "text", c[0], c[1])
	}
}
