package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/experiments/extract"
	"github.com/lago-train/lago-train/internal/invalid"
)

func extractCommand() *cli.Command {
	return &cli.Command{
		Name:      "extract",
		Usage:     "compute features of photographs with a ResNet, as a data set",
		ArgsUsage: "NAME",
		Description: `Reads the photographs DIR/CLASS/*.jpg (or png, webp, gif, bmp, tiff), or those of a list,
and writes the folder NAME in the data directory: features.npy, labels.csv, images.csv (the
path of each sample, which is its id) and extract.json (network, weights, preprocessing).
Without classes, that is for a folder without subfolders, labels.csv is left out, and the
features are for predict --features.

The weights are a safetensors file of ResNet-18, -34, -50, -101 or -152 with the names of
torchvision or timm; "dataset fetch resnet50" downloads one. The features are the
average-pooled units, 512 or 2048. Images are preprocessed as by torchvision.

An interrupted extraction resumes, to bit-identical features. To train on them, describe the
classes in classes.csv and attributes.csv (docs/your-data.md), and let "dataset split" propose
splits.csv.

Examples:
   lago-train dataset extract birds --images photographs --weights resnet101.safetensors
   lago-train dataset extract birds --list birds.csv --weights resnet101.safetensors --shard 0/4`,
		Flags: append(append([]cli.Flag{
			&cli.PathFlag{Name: imagesFlag, Category: inputGroup, Usage: "`DIR` folder with one folder of images per class, or with images"},
			&cli.PathFlag{Name: "list", Category: inputGroup, Usage: "`FILE` CSV file of images: path[,class], relative to --images or to the file"},
			&cli.BoolFlag{Name: "skip-broken", Category: inputGroup, Usage: "leave out images that cannot be decoded, and list them in skipped.csv"},
		}, networkFlags()...),
			dataDirFlag(),
			threadsFlagOf(),
			shardFlag("images"),
			jsonFlagOf()),
		Action: extractDataset,
	}
}

func extractDataset(c *cli.Context) error {
	name, err := oneDataset(c)
	if err != nil {
		return err
	}
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") || catalog.Generated(name) {
		return &invalid.Error{Where: c.Command.HelpName, Want: "a name for a folder of the data directory", Got: invalid.Quote(name)}
	}
	shard, err := shardOf(c)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(filepath.Join(catalog.DataDir(c.Path("data-dir")), name))
	if err != nil {
		return err
	}
	list, imageDir, err := listImages(c)
	if err != nil {
		return err
	}
	network, preprocessing, err := readNetwork(c, nil)
	if err != nil {
		return err
	}
	if path := c.Path(boxesFlag); path != "" {
		if err := images.SetBoxes(c.Context, path, list); err != nil {
			return err
		}
	}
	e, err := extract.New(network, preprocessing, len(list))
	if err != nil {
		return err
	}
	r, err := extract.Extract(c.Context, e, extract.Config{
		Dir: dir, ImageDir: imageDir, Images: list, SkipBroken: c.Bool("skip-broken"), Shard: shard, OnProgress: showExtraction("extracting"),
	})
	if err != nil {
		return err
	}
	return output(c, nil, r, func(w io.Writer) error {
		if err := r.WriteText(w); err != nil || r.Left > 0 {
			return err
		}
		next := "next: predict --features " + filepath.Join(r.Dir, "features.npy")
		if r.Classes > 0 {
			next = "next: describe the classes in classes.csv and attributes.csv, then dataset split, dataset check and run"
		}
		_, err := fmt.Fprintln(w, next)
		return err
	})
}

// listImages returns the images of --images or --list, and the folder that their names are
// relative to.
func listImages(c *cli.Context) (list []images.Image, dir string, err error) {
	dir, file := c.Path(imagesFlag), c.Path("list")
	switch {
	case dir == "" && file == "":
		return nil, "", &invalid.Error{Where: "--" + imagesFlag, Want: "a folder of images, or --list", Got: "none"}
	case file != "":
		if dir == "" {
			dir = filepath.Dir(file)
		}
		list, err = images.ReadList(c.Context, file, dir)
	default:
		list, err = images.List(dir)
	}
	if err != nil {
		return nil, "", err
	}
	dir, err = filepath.Abs(dir)
	return list, dir, err
}
