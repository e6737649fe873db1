// Package plot draws the figures of the report with gonum/plot: lines with their
// spread, dots with error bars, and heat maps, as SVG or PNG.
//
// They share one style: sober, on white, with colours that colour-blind eyes tell
// apart (Okabe & Ito 2008), and a shape and a dash for each colour, so that they can
// be read in black and white. It knows numbers and names, and nothing of trials.
package plot
