// Package runs lists the runs that a folder holds, and shows all of one.
package runs
