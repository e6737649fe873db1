// Package safetensors reads and writes the file format of that name: the length
// of a JSON header in 8 bytes, the header, and the raw numbers of the tensors one
// after the other, all little-endian. Files are readable by the Python library
// safetensors.
//
// It holds what this program stores, tensors of float32 and float64, and neither
// maps files into memory nor reads the other types.
package safetensors
