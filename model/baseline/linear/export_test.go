package linear

// Evaluate returns the loss of all outputs together and its gradient at w, K x E.
func (p Problem) Evaluate(w []float64) (loss float64, gradient []float64) {
	o := newObjective(p)
	outputs, losses := make([]int, p.Outputs), make([]float64, p.Outputs)
	for k := range outputs {
		outputs[k] = k
	}
	gradient = make([]float64, len(w))
	o.evaluate(outputs, w, gradient, losses)
	for _, l := range losses {
		loss += l
	}
	return loss, gradient
}
