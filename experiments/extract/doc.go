// Package extract computes the features of photographs with a ResNet: of a folder of
// photographs as a data set in the open layout, and of single photographs to predict and
// explain them.
//
// Photographs are decoded while others are in the network, and memory does not grow with
// their number. A data set is extracted in parts, which shards share and which an
// interrupted extraction keeps: it resumes, and ends with the same bits. Packages
// dataset/images and model/resnet have the preprocessing and the network.
package extract
