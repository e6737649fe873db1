// Package descriptions reads classes that a person describes in a file: CSV or JSON,
// by the names of the attributes of a data set, each with a probability or a word
// such as "often". What the file leaves out is not described.
//
// It knows the names of attributes and no more: neither samples nor models, nor the
// files of whole data sets, which packages such as xlsa17 read.
package descriptions
