// Package parallel splits loops over the cores that this process may use.
//
// It is for loops whose parts write to different memory: what they compute then
// does not depend on the number of workers. It is not a scheduler; trials that
// run beside each other share one setting.
package parallel
