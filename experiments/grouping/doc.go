// Package grouping describes the groups of attributes that a soft model learned
// (section 4.3 of the paper and supplement A).
package grouping
