package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

// words are the words for p(a|z) that people may write instead of numbers.
var words = []struct {
	word  string
	value float64
}{
	{"never", 0},
	{"no", 0},
	{"rarely", 0.1},
	{"sometimes", 0.5},
	{"often", 0.75},
	{"always", 1},
	{"yes", 1},
}

// Probability reads p(a|z): a number from 0 to 1, or a word in any case. never and no
// are 0, rarely is 0.1, sometimes 0.5, often 0.75, always and yes are 1. An empty text
// is NaN, not described. The error is an *invalid.Error without a place.
func Probability(text string) (float64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return math.NaN(), nil
	}
	for _, w := range words {
		if strings.EqualFold(text, w.word) {
			return w.value, nil
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && v >= 0 && v <= 1 {
		return v, nil
	}
	return 0, &invalid.Error{Want: wantProbability, Got: foundInstead(text)}
}

var wantProbability = func() string {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = w.word
	}
	return "a number from 0 to 1, one of " + strings.Join(names, ", ") + ", or nothing if it is not described"
}()

// foundInstead quotes a text that is no probability, with a guess at what was meant.
func foundInstead(text string) string {
	found := invalid.Quote(text)
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err == nil && v >= 0 && v <= 100 && (percent || v > 1) {
		return fmt.Sprintf("%s, which looks like a percentage: write %s", found, strconv.FormatFloat(v/100, 'g', -1, 64))
	}
	if whole, decimals, ok := strings.Cut(text, ","); ok {
		if v, err := strconv.ParseFloat(whole+"."+decimals, 64); err == nil {
			return fmt.Sprintf("%s: write %s", found, strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	return found
}
