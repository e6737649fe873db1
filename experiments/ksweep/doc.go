// Package ksweep measures validation accuracy against the number of groups of k-soft
// (section 4.3 of the paper).
package ksweep
