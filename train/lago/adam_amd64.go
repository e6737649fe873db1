package lago

import "golang.org/x/sys/cpu"

// updateAVX is updateEach for a multiple of 8 elements, 8 at a time, with the same results: the processor
// rounds each operation in the same way, in the same order. It does not check the lengths.
//
//go:noescape
func updateAVX(value, grad, mean, square []float32, rate, unbias, meanGain, squareGain, eps float32)

func update(value, grad, mean, square []float32, rate, unbias float32) {
	vectors := 0
	if cpu.X86.HasAVX {
		vectors = len(value) &^ 7
		updateAVX(value[:vectors], grad[:vectors], mean[:vectors], square[:vectors], rate, unbias, 1-beta1,
			1-beta2, epsilon)
	}
	updateEach(value[vectors:], grad[vectors:], mean[vectors:], square[vectors:], rate, unbias)
}
