// Package descriptions reads classes that a person describes in a CSV or JSON file by the
// attributes of a data set, each with a probability or a word such as "often". What the
// file leaves out is not described.
//
// It does not read whole data sets: see packages openlayout and xlsa17.
package descriptions
