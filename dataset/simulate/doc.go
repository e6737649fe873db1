// Package simulate generates zero-shot data sets of any size from random numbers, for tests
// and benchmarks that need the sizes of the paper's data sets but not the data. They can be
// learned, but accuracies on them say nothing about photographs; the name of each begins
// with "simulated".
package simulate
