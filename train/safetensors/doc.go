// Package safetensors reads and writes the safetensors file format: the length of a JSON
// header in 8 bytes, the header, and the raw numbers of the tensors one after the other,
// all little-endian. The Python library safetensors reads and writes the same files.
//
// Write adds a checksum to the header's metadata, which Read verifies. The package supports
// tensors of float32 and float64, and does not map files into memory.
package safetensors
