package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/experiments/answers/extract"
	"github.com/lago-train/lago-train/experiments/answers/serve"
	"github.com/lago-train/lago-train/internal/setting"
)

type serveOptions struct {
	dataOptions
	networkOptions
	model    string
	port     int
	readOnly bool
	open     bool
}

func serveCommand() *cli.Command {
	var o serveOptions
	return &cli.Command{
		Name:      "serve",
		ArgsUsage: "NAME|DIR",
		Flags: flags(slices.Concat(o.dataSettings().Without("json"), o.networkSettings().
			Needs("model"), setting.List{
			setting.Raw("model", &o.model, "").In(inputGroup).Noted("none").Common().Describe(modelUsage),
			setting.Whole("port", &o.port, 0, setting.Between(0, 65535)).In(runGroup).Noted("any free one").
				Common().Describe("`N` port of 127.0.0.1 to listen on"),
			setting.Switch("open", &o.open, false).In(runGroup).Common().
				Describe("open the page in the browser"),
			setting.Switch("read_only", &o.readOnly, false).In(outputGroup).Common().
				Describe("write nothing"),
		})),
		Action: interruptible(withArgument(o.run)),
	}
}

func (o *serveOptions) run(c *cli.Context, name string) error {
	dir, err := catalog.Folder(name, o.Options)
	if err != nil {
		return err
	}
	config := serve.Config{Name: catalog.NameOf(name), Dir: dir, ReadOnly: o.readOnly}
	if o.Undecided = true; dir == "" {
		if config.Data, err = catalog.Open(c.Context, name, o.Options); err != nil {
			return err
		}
	}
	if o.model != "" {
		m, err := openLAGO(o.model)
		if err != nil {
			return err
		}
		config.Model = m
		if o.weights != "" {
			e, err := o.extractor(c, m, make([]images.Image, 1))
			if err != nil {
				return err
			}
			config.Features = featuresOf(e)
		}
	}
	s, err := serve.New(c.Context, config)
	if err != nil {
		return err
	}
	if why := s.WhyReadOnly(); why != "" && !o.readOnly {
		logrus.Warn(why)
	}
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGQUIT) // as Ctrl-C, in place of stacks
	defer stop()
	return s.Serve(ctx, o.port, func(address string) error {
		if o.open {
			if err := openInBrowser(address); err != nil {
				logrus.Warn("--open: ", err)
			}
		}
		_, err := fmt.Fprintf(os.Stdout, "%s: open %s in a browser of this machine; Ctrl-C ends it\n",
			config.Name, address)
		return err
	})
}

// openInBrowser starts the command by which the system opens an address.
func openInBrowser(address string) error {
	line := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		line = []string{"open"}
	case "windows":
		line = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return exec.Command(line[0], append(line[1:], address)...).Start()
}

// featuresOf computes the features of the content of one photograph.
func featuresOf(e *extract.Extractor) func(context.Context, string, []byte) ([]float32, error) {
	return func(ctx context.Context, name string, content []byte) ([]float32, error) {
		x := e.NewSource(ctx, []images.Image{{ID: name, Path: name, Data: content}}, nil)
		block := dataset.NewMatrix[float32](1, x.Cols())
		_, err := x.Read(block)
		return block.Data, err
	}
}
