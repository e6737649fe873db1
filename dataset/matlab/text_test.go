package matlab

import (
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for _, w := range []writer{little, big} {
		utf32 := w.order.AppendUint32(w.order.AppendUint32(nil, 'é'), '𝄞')
		bird := utf16.Encode([]rune("鳥🐦"))
		cell := func(dims []int, cells ...[]byte) []byte { return w.array("x", Cell, 0, dims, cells...) }
		none := w.tagged(kindMatrix, 0, nil)
		cases := []struct {
			name    string
			element []byte
			want    []string
		}{
			{"a row", w.char("x", []int{1, 3}, 'o', 'n', 'e'), []string{"one"}},
			{"a small element", w.word("x", "ab"), []string{"ab"}},
			{"rows keep their blanks", w.char("x", []int{2, 3}, 'a', 'x', 'b', 'y', ' ', 'z'), []string{"ab ", "xyz"}},
			{"Latin-1", w.array("x", Char, 0, []int{1, 2}, w.element(kindUint8, []byte{'a', 0xe9})), []string{"aé"}},
			{"UTF-8", w.array("x", Char, 0, []int{1, 2}, w.element(kindUTF8, []byte("aé"))), []string{"aé"}},
			{"UTF-8 counted in pairs", w.array("x", Char, 0, []int{1, 3}, w.element(kindUTF8, []byte("鳥🐦"))), []string{"鳥🐦"}},
			{"UTF-8 counted in characters", w.array("x", Char, 0, []int{1, 2}, w.element(kindUTF8, []byte("鳥🐦"))), []string{"鳥🐦"}},
			{"UTF-16 pair", w.char("x", []int{1, 3}, bird...), []string{"鳥🐦"}},
			{"half a pair", w.char("x", []int{1, 2}, bird[1], 'a'), []string{"\uFFFDa"}},
			{"UTF-32", w.array("x", Char, 0, []int{1, 2}, w.element(kindUTF32, utf32)), []string{"é𝄞"}},
			{"empty", w.char("x", []int{0, 0}), []string{""}},
			{"rows of nothing", w.char("x", []int{1 << 30, 0}), []string{""}},
			{"cells", cell([]int{2, 1}, w.word("", "one"), w.word("", "two")), []string{"one", "two"}},
			{"no cells", cell([]int{0, 1}), nil},
			{"empty cells", cell([]int{1, 5}, none, w.doubles("", []int{0, 0}), w.word("", ""), w.array("", Cell, 0, []int{0, 0}), w.word("", "e")), []string{"", "", "", "", "e"}},
			{"cells in cells", cell([]int{1, 2}, w.array("", Cell, 0, []int{1, 2}, w.word("", "a"), w.word("", "b")), w.word("", "c")), []string{"a", "b", "c"}},
		}
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				for _, element := range [][]byte{c.element, w.compressed(c.element)} {
					if diff := cmp.Diff(c.want, mustRead(t, w.file(element)).Strings); diff != "" {
						t.Errorf("%v (-want +got):\n%s", w.order, diff)
					}
				}
			})
		}
	}
}

// Text of any characters comes back from 16-bit units and from UTF-8.
func TestTextProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "words")
		var units, utf8 [][]byte
		for _, word := range words {
			u := utf16.Encode([]rune(word))
			units = append(units, big.char("", []int{1, len(u)}, u...))
			utf8 = append(utf8, big.array("", Char, 0, []int{1, len(u)}, big.element(kindUTF8, []byte(word))))
		}
		for _, cells := range [][][]byte{units, utf8} {
			arrays, err := read(big.file(big.array("x", Cell, 0, []int{len(words), 1}, cells...)), "x")
			if err != nil {
				t.Fatal(err)
			}
			if got := arrays["x"].Strings; !slices.Equal(got, words) {
				t.Fatalf("%q became %q", words, got)
			}
		}
	})
}
