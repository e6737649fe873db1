// Package glyphs generates a zero-shot data set of synthetic glyphs: letters and digits of
// 25 typefaces, rendered on demand, with classes described by the shapes of the letters. It
// needs no file and no network.
//
// A class is a letter or digit. A sample is that letter in one of the typefaces, shifted,
// turned, scaled, sheared, blurred and noisy; its features are histograms of oriented
// gradients. The attributes are what one would tell somebody who has never seen the letter:
// a stem on the left, a bar at the foot, one closed counter. letters.txt says which letter
// has which in these typefaces; p(attribute|class) is the share of the typefaces in which
// the class has the attribute.
//
// It is a small problem to try methods on. Accuracies on it say nothing about photographs.
package glyphs
