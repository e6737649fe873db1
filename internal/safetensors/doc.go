// Package safetensors reads and writes the safetensors file format: the length of a JSON
// header in 8 bytes, the header, and the raw numbers of the tensors one after the other,
// all little-endian. The Python library safetensors reads and writes the same files.
//
// Write adds a checksum to the header's metadata, which Read verifies. Tensors are written
// as float32 or float64; float16 and bfloat16 are read as well, into float32. Files are not
// mapped into memory.
package safetensors
