// Package methods finds the methods that LAGO is compared with by name, and makes
// settings of what files and flags say.
package methods
