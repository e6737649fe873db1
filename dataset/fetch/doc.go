// Package fetch gets the data sets of the paper, CUB, AWA2 and SUN, from where they
// are published, and leaves each as a folder that package xlsa17 reads.
//
// Two archives make one: the release of Xian et al. has features, descriptions and
// splits, and the repository of the authors of LAGO the groups of the attributes.
// They are downloaded to a cache folder, where they stay for the next data set; a
// download that breaks is gone on with (package download). Only the files of the
// layout are taken out (package unpack), and the folder appears whole or not at all.
//
// It knows where files are published and what a folder must hold. Whether the
// numbers in it are sound is for xlsa17.Load and dataset.Check to say.
package fetch
