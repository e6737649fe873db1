// Package fetch downloads the data sets of the paper, CUB, AWA2 and SUN, from where
// they are published, and leaves each as a folder that package xlsa17 reads.
//
// Two archives make one data set: the release of Xian et al. has features, descriptions
// and splits, and the repository of the authors of LAGO the groups of the attributes.
// They are kept in a cache folder for the next data set. An interrupted download is
// resumed, in the same process or a later one, if the server can tell that the file is
// still the same (RFC 9110, If-Range).
//
// Archives are not trusted. Only the files of the layout are written, under names of
// this package; what they may expand to is bounded, and sizes and checksums are
// compared. The data set is written atomically. Whether its numbers are sound is for
// xlsa17.Load and dataset.Check to say.
//
// The weights of networks, with which features of photographs are computed, are downloaded
// in the same way.
package fetch
