package dataset

import "fmt"

// Provenance says how features were computed from images. Features of two data sets, or
// of a model and of a photograph, can be compared only if they have the same provenance.
type Provenance struct {
	Architecture  string             `json:"architecture"`   // as in "resnet101"
	WeightsSHA256 string             `json:"weights_sha256"` // of the file, in hex
	StrideIn1x1   bool               `json:"stride_in_1x1"`  // of bottlenecks, as in the original ResNets
	Images        ImagePreprocessing `json:"preprocessing"`
}

// ImagePreprocessing makes an image an input of the network: size x size pixels,
// normalised by channel.
type ImagePreprocessing struct {
	Fit    Fit        `json:"fit"`
	Resize int        `json:"resize,omitempty"` // pixels of the shorter side before the crop
	Size   int        `json:"size"`             // pixels of each side
	Boxes  bool       `json:"boxes"`            // images are first cropped to bounding boxes
	Mean   [3]float64 `json:"mean"`             // of red, green and blue, from 0 to 1
	Std    [3]float64 `json:"std"`
}

// String describes the preprocessing, as in "crop to 224 x 224 pixels of a shorter side of 256".
func (p ImagePreprocessing) String() string {
	s := fmt.Sprintf("%s to %d x %d pixels", p.Fit, p.Size, p.Size)
	if p.Resize > 0 {
		s += fmt.Sprintf(" of a shorter side of %d", p.Resize)
	}
	if p.Boxes {
		s += ", within bounding boxes"
	}
	return s
}

// Fit says how an image becomes a square.
type Fit string

// The ways to make a square.
const (
	Crop   Fit = "crop"   // resize the shorter side, and crop the centre
	Squash Fit = "squash" // resize both sides, which changes the proportions
)
