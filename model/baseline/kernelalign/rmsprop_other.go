//go:build !amd64

package kernelalign

func rmspropRange(w, grad, squares []float32, lr float32) { rmspropEach(w, grad, squares, lr) }
