//go:build !amd64

package lago

func update(value, grad, mean, square []float32, rate, unbias float32) {
	updateEach(value, grad, mean, square, rate, unbias)
}
