package xlsa17

import (
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"numbers and spaces", "1 a::b\n2  c d\n", []string{"a::b", "c d"}},
		{"numbers and tabs", "   1\tant\n\n  12\tgreat  ape \n", []string{"ant", "great  ape"}},
		{"no numbers", "a\nb c\n", []string{"a", "b c"}},
		{"a line without number", "1 a\nb\n", []string{"1 a", "b"}},
		{"numbers that belong to the name", "002.Laysan\n001.Black\n", []string{"002.Laysan", "001.Black"}},
		{"line ends of Windows", "1 a\r\n2 b\r\n", []string{"a", "b"}},
	} {
		got := testkit.Must(readNames(t.Context(), testkit.Write(t, t.TempDir(), "names.txt", tt.text)))(t)
		testkit.Equal(t, tt.name, got, tt.want)
	}
}
