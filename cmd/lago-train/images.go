package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/dataset/xlsa17"
	"github.com/lago-train/lago-train/internal/table"

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

// networkOptions are those of every command that computes features of images.
type networkOptions struct {
	weights    string
	fit        dataset.Fit
	size       int
	activation vit.Activation
}

// weightsSetting is that of commands that compute features for a model, which has the other settings.
func weightsSetting(to *string) setting.Setting {
	return setting.Raw("weights", to, "").In(imageGroup).Common().
		Describe("`FILE` weights of a ResNet, DINOv2 or CLIP, safetensors")
}

// extractionSettings are those that predictions take from the features of the training.
func (o *networkOptions) extractionSettings() setting.List {
	return setting.List{
		weightsSetting(&o.weights),
		setting.Choice("fit", &o.fit, dataset.Crop, dataset.Crop, dataset.Squash).
			Describe("make squares: crop resizes the shorter side and crops the centre, squash resizes both"),
		setting.Whole("size", &o.size, 0, setting.Between(resnet.MinSize, 1024)).
			Noted("224, or that of a CLIP").Describe("`PIXELS` side of the squares"),
		setting.Choice("activation", &o.activation, vit.QuickGELU, vit.QuickGELU, vit.GELU).
			Describe("activation of a CLIP, which its weights do not show: quick_gelu is OpenAI's, " +
				"gelu that of most others"),
	}.In(imageGroup)
}

// read reads the network, and returns the preprocessing of images: that of the provenance or, if it is
// nil, what the flags choose.
func (o *networkOptions) read(c *cli.Context,
	from *dataset.Provenance,
) (*extract.Weights, dataset.ImagePreprocessing, error) {
	var p dataset.ImagePreprocessing
	if o.weights == "" {
		return nil, p, &invalid.Error{
			Where: "--weights", Want: "a safetensors file with the weights of a network", Got: "none",
			Hint: "lago-train dataset fetch resnet50 or dinov2-small downloads one.", Usage: true,
		}
	}
	var options extract.NetworkOptions
	if from != nil {
		options = extract.NetworkOptions{
			StrideIn1x1: &from.StrideIn1x1, Activation: vit.ActivationOf(from.Architecture),
		}
	} else if c.IsSet("activation") {
		options.Activation = o.activation
	}
	debug.SetGCPercent(garbage) // weights have no pointers, too
	n, err := extract.ReadNetwork(c.Context, o.weights, options)
	if err != nil {
		return nil, p, err
	}
	p = n.Preprocessing(cmp.Or(o.fit, dataset.Crop), o.size)
	if from == nil {
		return n, p, nil
	}
	const as = ", as for the features that the model was trained on"
	switch {
	case n.SHA256 != from.WeightsSHA256:
		return nil, p, wrong("--weights", from.Architecture+" with SHA-256 "+from.WeightsSHA256+as,
			n.SHA256+" of "+o.weights)
	case from.Images.Boxes:
		logrus.Warn("the model was trained on images cropped to bounding boxes: crop these, too")
	}
	return n, from.Images, nil
}

// extractor returns what computes the features of images, for a model unless it is nil.
func (o *networkOptions) extractor(c *cli.Context, m *predictor.Model,
	list []images.Image,
) (*extract.Extractor, error) {
	var from *dataset.Provenance
	if m != nil {
		from = m.Provenance
	}
	n, p, err := o.read(c, from)
	switch {
	case err != nil:
		return nil, err
	case m != nil && n.Dims() != m.Dims:
		return nil, wrong("--weights", fmt.Sprintf("a network with %d features, as the model was trained on",
			m.Dims), fmt.Sprintf("%d of %s", n.Dims(), n.Name()))
	case m != nil && from == nil:
		logrus.Warnf("%s records no provenance of its features: predictions are right only if they came "+
			"from these weights, with %s images of %d pixels",
			m.Dataset, p.Fit, p.Size)
	}
	return extract.New(n, p, len(list))
}

// imageList returns the images that paths Name: files, or folders of images. Those of the same name in
// several folders are known by their paths.
func imageList(paths []string) ([]images.Image, error) {
	var all []images.Image
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, invalid.File(path, err)
		}
		if !info.IsDir() {
			all = append(all, images.Image{ID: path, Path: path})
			continue
		}
		below, err := listFolder(path, true)
		if err != nil {
			return nil, err
		}
		all = append(all, below...)
	}
	first := map[string]int{}
	for i, m := range all {
		if other, repeated := first[m.ID]; repeated {
			all[other].ID, all[i].ID = filepath.ToSlash(all[other].Path), filepath.ToSlash(m.Path)
		} else {
			first[m.ID] = i
		}
	}
	return all, nil
}

// listFolder returns the images of a folder, and warns of pictures that are not read.
func listFolder(dir string, deep bool) ([]images.Image, error) {
	list, warning, err := images.List(dir, deep)
	if warning != "" {
		logrus.Warn(warning)
	}
	return list, err
}

type extractOptions struct {
	networkOptions
	dataOptions
	extract.Config
	list, classColumn string
}

// classColumnSetting is that of commands with --list.
func classColumnSetting(column *string) setting.Setting {
	return setting.Raw("class_column", column, "").In(inputGroup).Noted("class").Needs("list").
		Describe("`NAME` column of the class in a list with other columns, which are read past")
}

func extractCommand() *cli.Command {
	var o extractOptions
	return &cli.Command{
		Name: "extract", ArgsUsage: "NAME", Action: graceful(withArgument(o.run)),
		Flags: flags(slices.Concat(setting.List{
			setting.Raw("images", &o.ImageDir, "").
				Describe("`DIR` folder with one folder of images per class"),
			setting.Raw("list", &o.list, "").
				Describe("`FILE` CSV file of images: path,class, relative to --images or to the file"),
			setting.Switch("skip_broken", &o.SkipBroken, false).
				Describe("leave out images that cannot be decoded, and list them in skipped.csv"),
			setting.Switch("replace", &o.Replace, false).
				Describe("replace the samples of a data set that is there even if none of them stay"),
		}.In(inputGroup).Common(), o.extractionSettings(), o.dataSettings(), workSettings(), setting.List{
			classColumnSetting(&o.classColumn), shardSetting(&o.Shard, "images"),
		})),
	}
}

func (o *extractOptions) run(c *cli.Context, name string) (err error) {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") || catalog.Generated(name) {
		return wrong(c.Command.HelpName, "a name for a folder of the data directory", invalid.Quote(name))
	}
	shard, from, err := shardOf(c, o.Shard)
	if err != nil {
		return err
	}
	o.Shard = shard
	if o.Dir, err = filepath.Abs(filepath.Join(catalog.DataDir(o.DataDir), name)); err != nil {
		return err
	}
	if err := o.listImages(c); err != nil {
		return err
	}
	if of := o.Images[0].Class; !slices.ContainsFunc(o.Images, func(m images.Image) bool {
		return m.Class != of
	}) {
		logrus.Warnf("all images are of one class, %s: expected one folder for each class in --images",
			invalid.Quote(of))
	}
	e, err := o.extractor(c, nil, o.Images)
	if err != nil {
		return err
	}
	o.OnProgress = display.show
	r, err := extract.Extract(c.Context, e, o.Config)
	if err == nil {
		r.As = o.Named(name)
	}
	if err = o.print(r, err); err == nil && r.Left > 0 {
		err = &lab.Incomplete{Left: format.Count(r.Left, "image")}
		lab.SayShard(err, o.Shard, from)
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
		o.Images, err = listFolder(o.ImageDir, false)
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
		return o.print(fetched{r, o.DataDir}, err)
	}
	return &cli.Command{
		Name: "fetch", ArgsUsage: strings.Join(fetch.Names(), "|") + "|NETWORK",
		Flags: flags(o.dataSettings().Without("json")), Action: graceful(withArgument(run)),
	}
}

// checkFetched opens what was fetched: the weights of a network, or a data set.
func checkFetched(ctx context.Context, name, path string) error {
	if slices.Contains(fetch.Networks(), name) {
		n, err := extract.ReadNetwork(ctx, path, extract.NetworkOptions{})
		if err == nil && n.Name() != name {
			err = &invalid.Error{Where: path, Want: "the weights of " + name, Got: "those of " + n.Name()}
		}
		return err
	}
	d, err := xlsa17.Load(ctx, path, xlsa17.Options{NoCache: true})
	if err != nil {
		return err
	}
	return check.Errors(d)
}

type fetched struct {
	*fetch.Result
	dataDir string
}

// Tables say what was fetched, and the commands that use it.
func (f fetched) Tables() []*table.Table {
	t := table.New(f.Name + ": " + f.Path)
	for _, file := range f.Files {
		t.Note("  from %s\n       SHA-256 %s", file.From, file.SHA256)
	}
	if slices.Contains(fetch.Networks(), f.Name) {
		t.Note("features:  lago-train dataset extract NAME --images DIR --weights %s", f.Path)
	} else {
		named := catalog.Options{DataDir: f.dataDir}.Named(f.Name)
		t.Note("check:     lago-train dataset check %s", named).
			Note("training:  lago-train run --dataset %s", named)
	}
	return []*table.Table{t}
}
