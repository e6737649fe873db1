package predict

import (
	"fmt"
	"math"
)

// Options say what is told of a sample.
type Options struct {
	Top         int     // classes to tell
	Temperature float64 // T of the probabilities softmax(s/T); 0: scores are no probabilities
	Confidence  float64 // the least probability of the first class to name it; 0 names it always
	Format      Format
}

// Check returns an error for the first option that makes no sense.
func (o Options) Check() error {
	switch {
	case o.Top < 1:
		return fmt.Errorf("top: expected at least 1 class, found %d", o.Top)
	case !(o.Temperature >= 0) || math.IsInf(o.Temperature, 0):
		return fmt.Errorf("temperature: expected a finite number above 0, found %g", o.Temperature)
	case !(o.Confidence >= 0 && o.Confidence <= 1):
		return fmt.Errorf("confidence: expected a probability, found %g", o.Confidence)
	case o.Confidence > 0 && o.Temperature == 0:
		return fmt.Errorf("confidence: expected probabilities to compare with it, found scores that are none: a temperature makes them some")
	}
	return nil
}

// ranked is what is told of one sample.
type ranked struct {
	classes []int     // the first, the best first
	values  []float64 // their probabilities, or their scores
	unsure  bool
}

// rank finds the classes with the highest scores; of equals, the first ones.
func (o Options) rank(to *ranked, scores []float32) {
	to.classes, to.values = to.classes[:0], to.values[:0]
	for z, s := range scores {
		place := len(to.classes)
		for place > 0 && s > scores[to.classes[place-1]] {
			place--
		}
		if place == o.Top {
			continue
		}
		if len(to.classes) < o.Top {
			to.classes = append(to.classes, 0)
		}
		copy(to.classes[place+1:], to.classes[place:])
		to.classes[place] = z
	}
	for _, z := range to.classes {
		to.values = append(to.values, float64(scores[z]))
	}
	if o.Temperature > 0 {
		o.soften(to, scores)
	}
	to.unsure = o.Confidence > 0 && to.values[0] < o.Confidence
}

// soften turns the scores that are told into probabilities.
func (o Options) soften(r *ranked, scores []float32) {
	top := r.values[0]
	var sum float64
	for _, s := range scores {
		sum += math.Exp((float64(s) - top) / o.Temperature)
	}
	for i, s := range r.values {
		r.values[i] = math.Exp((s-top)/o.Temperature) / sum
	}
}
