// Package serve is a local page to describe the classes of a data set, to try a model on photographs
// and samples while descriptions change, and to find classes that descriptions do not distinguish.
//
// It listens on 127.0.0.1 alone. Every address has a random token, and requests must come from the
// page itself: Host and Origin are checked. It writes attributes.csv and classes.csv of one data set
// and nothing else, at each change and atomically. Predictions and explanations are those of package
// explain.
package serve
