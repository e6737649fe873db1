package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/experiments/extract"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/resnet"
)

const (
	imagesFlag  = "images"
	imageFlag   = "image"
	weightsFlag = "weights"
	fitFlag     = "fit"
	sizeFlag    = "size"
	strideFlag  = "stride-in-1x1"
	boxesFlag   = "boxes"
)

// networkFlags are those of every command that computes features of images.
func networkFlags() []cli.Flag {
	return []cli.Flag{
		&cli.PathFlag{Name: weightsFlag, Category: imageGroup, Usage: "`FILE` weights of a ResNet, safetensors"},
		choice(fitFlag, imageGroup, "make squares: crop resizes the shorter side and crops the centre, squash resizes both", dataset.Crop, dataset.Crop, dataset.Squash),
		&cli.IntFlag{Name: sizeFlag, Category: imageGroup, Value: images.DefaultSize, Usage: "`PIXELS` side of the squares"},
		&cli.BoolFlag{Name: strideFlag, Category: imageGroup, Usage: "bottlenecks stride in the first 1x1 convolution (default: from the file, otherwise no)"},
		&cli.PathFlag{Name: boxesFlag, Category: imageGroup, Usage: "`FILE` CSV file of bounding boxes to crop to: path,x,y,width,height in pixels"},
	}
}

// readNetwork reads the network and the preprocessing of images that the flags choose. They
// must be those of the provenance, unless that is nil.
func readNetwork(c *cli.Context, from *dataset.Provenance) (*resnet.Network, dataset.ImagePreprocessing, error) {
	var p dataset.ImagePreprocessing
	path := c.Path(weightsFlag)
	if path == "" {
		return nil, p, &invalid.Error{
			Where: "--" + weightsFlag, Want: "a safetensors file with the weights of a ResNet", Got: "none",
			Hint: "lago-train dataset fetch resnet50 downloads one.",
		}
	}
	fit := dataset.Fit(c.String(fitFlag))
	const largest = 1024
	size := c.Int(sizeFlag)
	if size < resnet.MinSize || size > largest {
		return nil, p, &invalid.Error{Where: "--" + sizeFlag, Want: fmt.Sprintf("%d to %d pixels", resnet.MinSize, largest), Got: fmt.Sprint(size)}
	}
	p = images.Preprocessing(fit, size)
	p.Boxes = c.IsSet(boxesFlag)
	stride := new(bool)
	switch *stride = c.Bool(strideFlag); {
	case c.IsSet(strideFlag):
	case from != nil:
		*stride = from.StrideIn1x1
	default:
		stride = nil
	}
	n, err := resnet.Read(c.Context, path, stride)
	if err != nil || from == nil {
		return n, p, err
	}
	differs := func(flag string, want, got any) error {
		return &invalid.Error{Where: "--" + flag, Want: fmt.Sprintf("%v, as for the features that the model was trained on", want), Got: fmt.Sprint(got)}
	}
	switch then := from.Images; {
	case n.SHA256 != from.WeightsSHA256:
		return nil, p, differs(weightsFlag, from.Architecture+" with SHA-256 "+from.WeightsSHA256, n.SHA256+" of "+path)
	case n.StrideIn1x1 != from.StrideIn1x1:
		return nil, p, differs(strideFlag, from.StrideIn1x1, n.StrideIn1x1)
	case c.IsSet(fitFlag) && fit != then.Fit:
		return nil, p, differs(fitFlag, then.Fit, fit)
	case c.IsSet(sizeFlag) && size != then.Size:
		return nil, p, differs(sizeFlag, then.Size, size)
	case p.Boxes && !then.Boxes:
		return nil, p, differs(boxesFlag, "whole images", "bounding boxes")
	case then.Boxes && !p.Boxes:
		logrus.Warn("the model was trained on images cropped to bounding boxes: these are taken as they are; --boxes crops them")
	}
	return n, from.Images, nil
}

// openImages returns what computes the features of images for a model.
func openImages(c *cli.Context, m *loadedModel, list []images.Image) (*extract.Extractor, error) {
	n, p, err := readNetwork(c, m.Provenance)
	if err != nil {
		return nil, err
	}
	if n.Dims != m.Dims {
		return nil, &invalid.Error{Where: "--" + weightsFlag, Want: fmt.Sprintf("a network with %d features, as the model was trained on", m.Dims), Got: fmt.Sprintf("%d of %s", n.Dims, n.Architecture)}
	}
	if m.Provenance == nil {
		logrus.Warnf("%s records no provenance of its features: predictions are right only if they came from these weights, with --%s %s and --%s %d",
			m.Dataset, fitFlag, p.Fit, sizeFlag, p.Size)
	}
	if path := c.Path(boxesFlag); path != "" {
		if err := images.SetBoxes(c.Context, path, list); err != nil {
			return nil, err
		}
	}
	return extract.New(n, p, len(list))
}

// paths is a flag that can be repeated, with values that may have commas.
type paths []string

func (p *paths) String() string { return "" }

func (p *paths) Set(path string) error {
	*p = append(*p, path)
	return nil
}

// imageList returns the images that a flag and the arguments name: files, or folders of
// images.
func imageList(c *cli.Context) ([]images.Image, error) {
	var all []images.Image
	for _, path := range slices.Concat(*c.Generic(imagesFlag).(*paths), c.Args().Slice()) {
		info, err := os.Stat(path)
		if err != nil {
			return nil, invalid.File(path, err)
		}
		if !info.IsDir() {
			all = append(all, images.Image{ID: path, Path: path})
			continue
		}
		below, err := images.List(path)
		if err != nil {
			return nil, err
		}
		all = append(all, below...)
	}
	return all, nil
}

func showExtraction(what string) func(extract.Progress) {
	return func(p extract.Progress) { display.show(what+": "+p.String(), p.Done == p.Total) }
}
