//go:build !amd64

package model

func multiplyVectors([]float64, []float32) int { return 0 }

func divideVectors(_, _, _ []float32) int { return 0 }
