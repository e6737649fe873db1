// Package simulate makes zero-shot data sets of any size out of random numbers,
// for tests and benchmarks that need the sizes of the paper's data and not the
// data. They are learnable, but a score on one says nothing about photographs,
// which is why the name of each begins with "simulated".
package simulate
