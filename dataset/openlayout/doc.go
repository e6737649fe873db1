// Package openlayout reads and writes data sets in the open layout: a folder of plain
// files that any program can write.
//
//	features.npy      or features.csv: samples x D numbers, see package features
//	labels.csv        class[,id][,test_seen]: one line per sample, in the order of the features
//	classes.csv       class, and one column per attribute: one line per class, p(attribute|class)
//	attributes.csv    name[,group]: one line per attribute
//	splits.csv        class,part[,part2][,part3]: train, val or test; one line per class
//	images.csv        path: one line per sample; optional
//	extract.json      how the features were computed from images; optional
//
// The CSV files begin with the names of their columns, in any order. Classes are in the
// order of classes.csv, attributes in that of attributes.csv, and groups in the order in
// which attributes.csv first names them. Anything unexpected is an error, because a
// misspelt name that is ignored would change results silently.
//
// A description is a number from 0 to 1, a word such as "often", or nothing if it is not
// described. test_seen is yes for the samples of seen classes that are held out for
// generalised zero-shot learning. part2 and part3 are other splits of the seen classes
// into train and val. id is any name of a sample, such as that of its picture; the paths of
// images.csv, which dataset extract writes, are ids as well.
//
// All problems of a folder are reported together, with file, line and column.
package openlayout
