// Package resnet computes features of images with a ResNet (He et al., "Deep Residual
// Learning for Image Recognition", CVPR 2016): ResNet-18, -34, -50, -101 and -152, as a
// Gorgonia graph.
//
// Read takes the weights from a safetensors file with the names of torchvision or timm,
// recognises the network, and folds batch normalisation into the convolutions. A Graph
// then maps batches of preprocessed images to the average-pooled units before the
// classifier. Networks are not trained here, so the ops have no gradients.
//
// Arrays are in the order samples, rows, columns, channels: a convolution is then the
// product of image patches (im2col), whose channels are adjacent, and weights, with
// shortcut, bias and ReLU added while the result is in the cache. Package dataset/images
// decodes and preprocesses images.
package resnet
