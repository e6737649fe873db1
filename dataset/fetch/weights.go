package fetch

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
)

// weights are the addresses of ImageNet weights in safetensors form, those of torchvision
// as timm publishes them.
var weights = map[string]string{
	"resnet50":  "https://huggingface.co/timm/resnet50.tv_in1k/resolve/main/model.safetensors",
	"resnet101": "https://huggingface.co/timm/resnet101.tv_in1k/resolve/main/model.safetensors",
}

// Networks returns the networks whose weights can be fetched.
func Networks() []string { return slices.Sorted(maps.Keys(weights)) }

// WeightsURL returns the address that the weights of a network were published at.
func WeightsURL(network string) string { return weights[network] }

// fetchWeights downloads the weights of a network to NETWORK.safetensors in the data dir.
func (f *fetcher) fetchWeights(ctx context.Context, network string) (*Result, error) {
	if !isAddress(f.ArchiveURL) {
		return nil, &invalid.Error{Where: "--archive-url", Want: "an http or https address", Got: invalid.Quote(f.ArchiveURL)}
	}
	file := network + ".safetensors"
	target := filepath.Join(f.DataDir, file)
	if _, err := os.Lstat(target); err == nil && !f.Force {
		return nil, existing(target, "a file", "--force replaces it.")
	}
	a := &archive{Archive: Archive{Source: redact(f.ArchiveURL), File: target + ".new", Downloaded: true}}
	if err := f.download(ctx, f.ArchiveURL, a.File, f.meter(ctx, "downloading "+network)); err != nil {
		return nil, err
	}
	if err := a.verify(f.meter(ctx, "checking "+network), f.SHA256); err != nil {
		return nil, errors.Join(err, os.Remove(a.File))
	}
	if err := atomicfile.Rename(a.File, target); err != nil {
		return nil, err
	}
	a.File, a.Kept = target, true
	return &Result{Name: network, Folder: f.DataDir, Files: []string{file}, Bytes: a.Bytes, Archives: []Archive{a.Archive}}, nil
}
