package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
)

type initOptions struct {
	dataOptions
	images, weights string
}

func initCommand() *command {
	var o initOptions
	return &command{
		name: "init", argument: "NAME", run: withArgument(o.run), graceful: true,
		flags: append(o.dataSettings().Without("json"), setting.List{
			setting.Raw("images", &o.images, "").In(inputGroup).
				Describe("`DIR` folder with one folder of photographs per class"),
			setting.Raw("weights", &o.weights, "").In(imageGroup).
				Noted(firstNetwork + " in the data directory").
				Describe("`FILE` weights of the network that computes the features"),
		}.Common()...),
	}
}

// firstNetwork is the one that is fetched where no weights are given.
const firstNetwork = "dinov2-small"

// run asks before each next command, and runs it. What is next follows from the files of the data set alone,
// so that a stopped command goes on where it was. Without a terminal it prints the next command.
func (o *initOptions) run(c *call, name string) error {
	last := []string(nil)
	for {
		what, words, err := o.next(c, name)
		if err != nil || slices.Equal(words, last) { // the last command said what is missing
			return err
		}
		line := words
		if o.DataDir != "" {
			line = append(slices.Clone(words), "--data-dir", o.DataDir)
		}
		if _, err := fmt.Fprintf(c.out, "%s\nnext: %s %s\n", what, usage, format.ShellLine(line...)); err != nil {
			return err
		}
		if !term.IsTerminal(int(os.Stdin.Fd())) {
			return nil
		}
		if !confirmed("Run it? [y/N] ") {
			return nil
		}
		if err := execute(c, c.out, line); err != nil || words[0] == "run" {
			return err
		}
		last = words
	}
}

// next returns the next step, in words and as a command.
func (o *initOptions) next(c *call, name string) (what string, words []string, err error) {
	dir := filepath.Join(catalog.DataDir(o.DataDir), name)
	if !slices.ContainsFunc(openlayout.SampleFiles(), func(file string) bool {
		_, err := os.Stat(filepath.Join(dir, file))
		return err == nil
	}) {
		return o.extraction(name)
	}
	r, err := catalog.Check(c, name, o.Options)
	switch {
	case err != nil:
		return "", nil, err
	case strings.Contains(r.Next, " dataset describe ") && !strings.Contains(r.Next, " serve "):
		return "The classes need attributes and descriptions.", []string{"dataset", "describe", name}, nil
	case strings.Contains(r.Next, " serve "):
		return "Describe the classes on a page; Ctrl-C ends it.", []string{"serve", name}, nil
	case strings.Contains(r.Next, " split "):
		to := filepath.Join(dir, openlayout.SplitsFile)
		return "The classes are divided into train, val and test classes.", []string{
			"dataset", "split", name, "--to", to,
		}, nil
	case !r.OK:
		return "The data set has errors.", []string{"dataset", "check", name}, nil
	}
	return "The data set is complete: train and evaluate.", []string{
		"run", "--dataset", name, "--seeds", "1",
	}, nil
}

// extraction is the step that makes the data set of photographs, or the one before it that fetches a network.
func (o *initOptions) extraction(name string) (what string, words []string, err error) {
	if o.images == "" {
		return "", nil, wrong("--images", "a folder with one folder of photographs per class", "none")
	}
	weights := o.weights
	if weights == "" {
		weights = filepath.Join(catalog.DataDir(o.DataDir), firstNetwork+".safetensors")
		if _, err := os.Stat(weights); err != nil {
			return "Features of photographs need a network.", []string{"dataset", "fetch", firstNetwork}, nil
		}
	}
	return "The features of the photographs are computed.",
		[]string{"dataset", "extract", name, "--images", o.images, "--weights", weights}, nil
}

// confirmed asks on the terminal.
func confirmed(question string) bool {
	_, _ = fmt.Fprint(os.Stderr, question)
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
}
