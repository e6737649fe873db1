// Package plot draws figures with gonum/plot, as SVG or PNG: lines with bands or error
// bars, dots with error bars, and heat maps.
//
// All share one style, on white, with colours that colour-blind readers can distinguish
// (Okabe & Ito 2008) and a shape and a dash pattern for each, so that figures can be read
// in black and white.
package plot
