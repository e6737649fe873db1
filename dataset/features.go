package dataset

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Provenance says how features were computed from images. Features of two data sets, or
// of a model and of a photograph, can be compared only if they have the same provenance.
type Provenance struct {
	Architecture  string             `json:"architecture"`   // as in "resnet101"
	WeightsSHA256 string             `json:"weights_sha256"` // of the file, in hex
	StrideIn1x1   bool               `json:"stride_in_1x1"`  // of bottlenecks, as in the original ResNets
	Images        ImagePreprocessing `json:"preprocessing"`
}

// ImagePreprocessing makes an image an input of the network: size x size pixels, normalised by channel.
type ImagePreprocessing struct {
	Fit    Fit    `json:"fit"`              // crop or squash
	Filter Filter `json:"filter,omitempty"` // bicubic; otherwise bilinear
	Resize int    `json:"resize,omitempty"` // pixels of the shorter side before the crop
	Size   int    `json:"size"`             // pixels of each side
	Boxes  bool   `json:"boxes"`            // of older versions: images were cropped to bounding boxes
	// photographs are turned as their EXIF data say; older versions of the program did not
	Upright bool       `json:"upright"`
	Mean    [3]float64 `json:"mean"` // of red, green and blue, from 0 to 1
	Std     [3]float64 `json:"std"`  // of red, green and blue
}

// MaxImageSize is the largest size of the inputs of a network.
const MaxImageSize = 1024

// Sound reports whether images can be preprocessed so. A file can say anything.
func (p ImagePreprocessing) Sound() bool {
	return (p.Fit == Crop || p.Fit == Squash) && p.Size >= 1 && p.Size <= MaxImageSize && p.Resize >= 0 &&
		p.Resize <= 2*MaxImageSize
}

// String describes the preprocessing, as in "crop to 224 x 224 pixels of a shorter side of 256".
func (p ImagePreprocessing) String() string {
	s := fmt.Sprintf("%s to %d x %d pixels", p.Fit, p.Size, p.Size)
	if p.Resize > 0 {
		s += fmt.Sprintf(" of a shorter side of %d", p.Resize)
	}
	if p.Filter != "" {
		s += ", " + string(p.Filter)
	}
	if p.Boxes {
		s += ", within bounding boxes"
	}
	if !p.Upright {
		s += ", not turned as EXIF data say (older versions)"
	}
	return s
}

// Filter is how images are resized, with antialiasing.
type Filter string

// Bicubic is that with a = -0.5, as Pillow's. The empty Filter is bilinear.
const Bicubic Filter = "bicubic"

// Fit says how an image becomes a square.
type Fit string

// The ways to make a square.
const (
	Crop   Fit = "crop"   // resize the shorter side, and crop the centre
	Squash Fit = "squash" // resize both sides, which changes the proportions
)

// ImageOf returns the path of the image of a sample, or "" if it is not known.
func (d *Dataset) ImageOf(i int) string {
	if d.ImageDir == "" || d.IDs == nil {
		return ""
	}
	return ImageFile(d.ImageDir, d.IDs[i])
}

// ImageFile returns the path of the image of an id, relative to dir unless it is absolute. Ids have
// composed letters; in the names of files, those of a Mac above all, they can be in two parts.
func ImageFile(dir, id string) string {
	if filepath.IsAbs(id) {
		dir = ""
	}
	path := filepath.Join(dir, filepath.FromSlash(id))
	if _, err := os.Stat(path); err != nil {
		other := filepath.Join(dir, filepath.FromSlash(norm.NFD.String(id)))
		if _, err := os.Stat(other); err == nil {
			return other
		}
	}
	return path
}

// Code is a value that stands for a missing feature, such as -9999 or NaN.
type Code float64

// Is reports whether a feature is missing by the code.
func (c Code) Is(v float32) bool { return v == float32(c) || v != v && c != c }

// MarshalJSON writes a number, or as a text what is none in JSON: "NaN", "+Inf" or "-Inf".
func (c Code) MarshalJSON() ([]byte, error) {
	if v := float64(c); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return json.Marshal(v)
	}
	return json.Marshal(fmt.Sprint(float64(c)))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Code) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	*c = Code(v)
	return err
}

// AnyIs reports whether a feature is missing by one of the codes.
func AnyIs(codes []Code, v float32) bool {
	return slices.ContainsFunc(codes, func(c Code) bool { return c.Is(v) })
}

// Absent says which values stand for missing features, and what is in their place.
type Absent struct {
	Values []Code    `json:"values"`
	Means  []float32 `json:"means"` // of each feature over the seen classes
}

// Len is the number of features; 0 where nothing was missing.
func (a *Absent) Len() int {
	if a == nil {
		return 0
	}
	return len(a.Means)
}

// Fill puts the means in place of the values that stand for missing features.
func (a *Absent) Fill(features []float32) {
	for j, v := range features {
		if AnyIs(a.Values, v) {
			features[j] = a.Means[j]
		}
	}
}

// SetAbsent puts the means over the seen classes in place of values that stand for missing features.
func (d *Dataset) SetAbsent(values []Code) {
	d.Absent = &Absent{Values: values, Means: make([]float32, d.Features.Cols)}
	rows := d.SamplesOf(d.Split.Seen())
	if len(rows) == 0 { // without a split
		rows = d.Features.AllRows()
	}
	sums, counts := make([]float64, d.Features.Cols), make([]float64, d.Features.Cols)
	for _, i := range rows {
		for j, v := range d.Features.Row(i) {
			if !AnyIs(values, v) {
				sums[j] += float64(v)
				counts[j]++
			}
		}
	}
	for j, sum := range sums {
		d.Absent.Means[j] = float32(sum / max(counts[j], 1))
	}
	d.FillAbsent(d.Absent)
}

// FillAbsent puts the means of a in place of its values.
func (d *Dataset) FillAbsent(a *Absent) {
	d.Absent, d.FeaturesSum = a, ""
	for i := range d.Features.Rows {
		a.Fill(d.Features.Row(i))
	}
}
