// Package mapped moves large arrays into temporary files that are mapped into memory, so
// that a transformed copy can be made without holding both. It does not map the user's own
// files: if another program truncated one, reading the array would end the process.
package mapped

// Large is the number of values from which it is worth saving memory: 64 MB of float32.
const Large = 1 << 24
