// Package comparison compares LAGO with the baselines by one protocol, the paper's
// table 1.
package comparison
