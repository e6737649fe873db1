// Package glyphs draws a zero-shot data set: letters and digits of many
// typefaces, rendered when they are asked for, with classes described by the
// shapes of letters. It needs no file and no network, so that there is always
// something to train on.
//
// A class is a letter or a digit. A sample is that letter in one of the faces,
// shifted, turned, scaled, sheared, blurred and noisy; its features are
// histograms of oriented gradients of the picture. The attributes are what one
// would say of a letter to somebody who has never seen it: a stem on the left, a
// bar at the foot, one closed counter. Which letter has which is written down in
// letters.txt, from how letters look in these faces; the probability of an
// attribute given a class is the part of the faces of which it is true.
//
// It is a small problem to try methods on, and no benchmark: scores on it say
// nothing about photographs.
package glyphs
