// Package openlayout reads and writes data sets in the open layout: a folder of
// plain files that any program can make.
//
//	features.npy      or features.csv: samples x D numbers, see package features
//	labels.csv        class[,id][,test_seen]: a line a sample, in the order of the features
//	classes.csv       class, and a column an attribute: a line a class, p(attribute | class)
//	attributes.csv    name[,group]: a line an attribute
//	splits.csv        class, part[,part2][,part3]: train, val or test, a line a class
//
// The CSV files have a line of names of columns, which may be in any order; a byte
// order mark, line ends of Windows, and space around a cell make no difference.
// Anything else that is not expected is an error, since a misspelt name that is
// passed over would change results in silence. Classes are in the order of
// classes.csv, attributes in that of attributes.csv, and groups in that in which
// attributes.csv first names them.
//
// Descriptions are what package described takes for a value: a number from 0 to 1,
// a word such as "often", or nothing where an attribute is not described. test_seen
// says yes for the samples of seen classes that generalised zero-shot learning holds
// out. part2 and part3 divide the seen classes into train and val anew. id is any
// name of a sample, such as that of its picture; it must be one of its own.
//
// All that is wrong with a folder is told at once, with file, line and column. The
// package knows the layout, and not what holds for all data sets (dataset.Check),
// though it leaves little for that to find.
package openlayout
