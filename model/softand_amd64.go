package model

import "golang.org/x/sys/cpu"

// multiplyAVX is multiplyEach for a multiple of 4 scores, divideAVX is divideEach for a multiple of 8,
// with the same results. They do not check the lengths.
//
//go:noescape
func multiplyAVX(product []float64, scores []float32, least, most float64)

//go:noescape
func divideAVX(dg, dl, scores []float32, least, most float32)

// multiplyVectors is multiplyEach for the first scores, and returns how many.
func multiplyVectors(product []float64, scores []float32) (n int) {
	if cpu.X86.HasAVX {
		n = len(scores) &^ 3
		multiplyAVX(product[:n], scores[:n], leastScore, mostScore)
	}
	return n
}

// divideVectors is divideEach for the first scores, and returns how many.
func divideVectors(dg, dl, scores []float32) (n int) {
	if cpu.X86.HasAVX {
		n = len(scores) &^ 7
		divideAVX(dg[:n], dl[:n], scores[:n], leastScore, mostScore)
	}
	return n
}
