// Package plot draws figures for a two-column paper with gonum/plot: lines with bands or
// error bars, dots with error bars, and heat maps, 89 mm wide with text of 7 and 8 points.
// WriteFile writes SVG, PDF, PNG or the numbers as CSV; ForPage draws for an HTML page in
// the page's colours. PDF files have ? for characters beyond Latin-1.
//
// The hue of a series is its method, the same in every figure; dashes and markers are its
// condition, such as validation or test. Heat maps are grey.
package plot
