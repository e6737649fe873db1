// Package grouping analyses the attribute groups that a soft model learned, as section
// 4.3 and supplement B of the paper do: how sparse Gamma is, which attributes share a
// group, and whether these are anti-correlated more often than others.
package grouping
