package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/dataset/xlsa17"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/experiments/answers/extract"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model/network/resnet"
	"github.com/lago-train/lago-train/model/network/vit"
)

type networkOptions struct {
	weights    string
	fit        dataset.Fit
	size       int
	activation vit.Activation
}

func weightsSetting(to *string) setting.Setting {
	return setting.Raw("weights", to, "").In(imageGroup).Common()
}

// extractor returns what computes the features of n images: for a model, unless it is nil, as its features
// were computed.
func (o *networkOptions) extractor(c *cli.Context, m *predictor.Model, n int) (*extract.Extractor, error) {
	if o.weights == "" {
		return nil, &invalid.Error{
			Where: "--weights", Want: "a safetensors file with the weights of a network", Got: "none",
			Hint: "lago-train dataset fetch resnet50 or dinov2-small downloads one.", Usage: true,
		}
	}
	var from *dataset.Provenance
	options := extract.NetworkOptions{Activation: o.activation}
	if m != nil && m.Provenance != nil {
		from = m.Provenance
		options.StrideIn1x1, options.Activation = &from.StrideIn1x1, vit.ActivationOf(from.Architecture)
	}
	debug.SetGCPercent(garbage) // weights have no pointers, too
	network, err := extract.ReadNetwork(c.Context, o.weights, options)
	if err != nil {
		return nil, err
	}
	p := network.Preprocessing(cmp.Or(o.fit, dataset.Crop), o.size)
	switch {
	case m == nil:
	case from == nil:
		logrus.Warnf("%s records no provenance of its features: predictions are right only if they came "+
			"from these weights, with %s images of %d pixels", m.Dataset, p.Fit, p.Size)
	case network.SHA256 != from.WeightsSHA256:
		return nil, wrong("--weights", from.Architecture+" with SHA-256 "+from.WeightsSHA256+
			", as for the features that the model was trained on", network.SHA256+" of "+o.weights)
	default:
		p = from.Images
	}
	if m != nil && network.Dims() != m.Dims {
		return nil, wrong("--weights", fmt.Sprintf("a network with %d features, as the model was trained on",
			m.Dims), fmt.Sprintf("%d of %s", network.Dims(), network.Name()))
	}
	if p.Boxes {
		logrus.Warn("the model was trained on images cropped to bounding boxes: crop these, too")
	}
	e, err := extract.New(network, p, n)
	if from != nil {
		err = invalid.At(m.Path, err)
	}
	return e, err
}

type extractOptions struct {
	networkOptions
	dataOptions
	extract.Photographs
	list, classColumn string
}

func classColumnSetting(column *string) setting.Setting {
	return setting.Raw("class_column", column, "").In(inputGroup).Noted("class").Needs("list")
}

func extractCommand() *cli.Command {
	var o extractOptions
	return &cli.Command{
		Name: "extract", ArgsUsage: "NAME", Action: graceful(withArgument(o.run)),
		Flags: flags(slices.Concat(setting.List{
			setting.Raw("images", &o.ImageDir, ""),
			setting.Raw("list", &o.list, ""),
			setting.Switch("skip_broken", &o.SkipBroken, false),
			setting.Switch("replace", &o.Replace, false),
		}.In(inputGroup).Common(), setting.List{
			weightsSetting(&o.weights),
			setting.Choice("fit", &o.fit, dataset.Crop, dataset.Crop, dataset.Squash),
			setting.Whole("size", &o.size, 0, setting.Between(resnet.MinSize, dataset.MaxImageSize)).
				Noted("224, or that of a CLIP"),
			setting.Choice("activation", &o.activation, "", vit.QuickGELU, vit.GELU).Noted("quick_gelu"),
		}.In(imageGroup), o.dataSettings(), workSettings(), setting.List{
			classColumnSetting(&o.classColumn), shardSetting(&o.Shard),
		})),
	}
}

func (o *extractOptions) run(c *cli.Context, name string) (err error) {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") || catalog.Generated(name) {
		return wrong(c.Command.HelpName, "a name for a folder of the data directory", invalid.Quote(name))
	}
	if o.Shard, err = shardOf(c, o.Shard); err != nil {
		return err
	}
	if o.Dir, err = filepath.Abs(filepath.Join(catalog.DataDir(o.DataDir), name)); err != nil {
		return err
	}
	if err := o.listImages(c); err != nil {
		return err
	}
	first := o.Images[0].Class
	if !slices.ContainsFunc(o.Images, func(m images.Image) bool { return m.Class != first }) {
		logrus.Warnf("all images are of one class, %s: expected one folder for each class in --images",
			invalid.Quote(first))
	}
	e, err := o.extractor(c, nil, len(o.Images))
	if err != nil {
		return err
	}
	o.OnProgress = display.show
	r, err := extract.Extract(c.Context, e, o.Photographs)
	if err == nil {
		r.Next = catalog.Next(c.Context, name, o.Options, nil, "dataset check")
	}
	if err = o.print(r, err); err == nil && r.Left > 0 {
		err = &lab.Incomplete{Left: format.Count(r.Left, "image")}
	}
	return err
}

// listImages sets the images of --images or --list, and the folder that their names are relative to.
func (o *extractOptions) listImages(c *cli.Context) (err error) {
	switch {
	case o.list != "":
		o.ImageDir = cmp.Or(o.ImageDir, filepath.Dir(o.list))
		o.Images, err = images.ReadList(c.Context, o.list, o.ImageDir, o.classColumn, true)
	case o.ImageDir != "":
		var warning string
		o.Images, warning, err = images.List(o.ImageDir, false)
		warnOf(warning)
	default:
		err = wrong("--images", "a folder of images, or --list", "none")
	}
	if err == nil {
		o.ImageDir, err = filepath.Abs(o.ImageDir)
	}
	return err
}

func fetchCommand() *cli.Command {
	var o dataOptions
	run := func(c *cli.Context, name string) error {
		r, err := fetch.Fetch(c.Context, name, fetch.Options{
			DataDir: catalog.DataDir(o.DataDir), Progress: display.show, Check: checkFetched,
		})
		if err == nil {
			r.As = o.Named(r.Name)
		}
		return o.print(r, err)
	}
	return &cli.Command{
		Name: "fetch", ArgsUsage: strings.Join(fetch.Names(), "|") + "|NETWORK",
		Flags: flags(o.dataSettings().Without("json")), Action: graceful(withArgument(run)),
	}
}

func checkFetched(ctx context.Context, name, path string) error {
	if slices.Contains(fetch.Networks(), name) {
		n, err := extract.ReadNetwork(ctx, path, extract.NetworkOptions{})
		if err == nil && n.Name() != name {
			err = &invalid.Error{Where: path, Want: "the weights of " + name, Got: "those of " + n.Name()}
		}
		return err
	}
	d, err := xlsa17.Load(ctx, path, 0)
	if err != nil {
		return err
	}
	return check.Errors(d)
}
