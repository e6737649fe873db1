package kernelalign

import "golang.org/x/sys/cpu"

// rmspropAVX is rmspropEach for a multiple of 8 elements, 8 at a time, with the same results. It
// does not check the lengths.
//
//go:noescape
func rmspropAVX(w, grad, squares []float32, lr, kept, gain, eps float32)

func rmspropRange(w, grad, squares []float32, lr float32) {
	vectors := 0
	if cpu.X86.HasAVX {
		vectors = len(w) &^ 7
		rmspropAVX(w[:vectors], grad[:vectors], squares[:vectors], lr, decay, 1-decay, epsilon)
	}
	rmspropEach(w[vectors:], grad[vectors:], squares[vectors:], lr)
}
