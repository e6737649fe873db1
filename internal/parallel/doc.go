// Package parallel splits loops over the cores that this process may use.
//
// It is for loops whose parts write to different memory, so that results do not depend
// on the number of workers. It is not a scheduler; runs that train in parallel share one
// setting.
package parallel
