// Package images lists photographs and makes them inputs of a network, as torchvision
// does: RGB, the shorter side resized by antialiased bilinear interpolation, the centre
// cropped, and each channel normalised by the mean and deviation of ImageNet.
//
// JPEG, PNG, WebP, GIF (the first frame), BMP and TIFF are decoded in Go. Crops of lossless
// images have the pixels that Pillow gives; of JPEG they differ by a few levels, because
// decoders round differently. As in torchvision, transparency and the orientation in EXIF
// data are ignored.
//
// Package model/resnet computes the features.
package images
