// Package explain says why a model of LAGO names a sample as it does, in the way of
// the paper's figure of examples: how far each group speaks for the predicted class
// against another, which detected and described attributes carry it, and which
// detections, had they been otherwise, would have changed the answer.
//
// The numbers are those of package model, in float64; what groups contribute adds up
// to the log odds between the classes. They are given as text, as JSON and as a page
// of HTML. It does not find samples or data sets: that is the command's.
package explain
