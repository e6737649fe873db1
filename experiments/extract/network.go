package extract

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model/network"
	"github.com/lago-train/lago-train/model/network/resnet"
	"github.com/lago-train/lago-train/model/network/vit"
)

// Weights is a network with the file of its weights.
type Weights struct {
	network.Network
	SHA256      string // of the file, in hex
	StrideIn1x1 bool   // of a ResNet
}

// ReadNetwork reads the weights of a network from a safetensors file, in float32, float16 or
// bfloat16. strideIn1x1 overrides the metadata of a ResNet's file, unless it is nil. A file of
// another network is an *invalid.Error that names the first tensor that does not fit.
func ReadNetwork(ctx context.Context, path string, strideIn1x1 *bool) (*Weights, error) {
	file, size, err := fileio.OpenRegular(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	sum := sha256.New()
	f, err := safetensors.Read(bufio.NewReaderSize(io.TeeReader(file, sum), 1<<20), size, path, func(*safetensors.File) (func(string) bool, error) {
		return vit.Needs, nil
	})
	if err != nil {
		return nil, err
	}
	w := &Weights{SHA256: hex.EncodeToString(sum.Sum(nil))}
	if vit.Is(f) {
		if strideIn1x1 != nil && *strideIn1x1 {
			return nil, invalid.At(path, &invalid.Error{Field: "stride in the 1x1 convolution", Want: "a ResNet", Got: "a vision transformer"})
		}
		n, err := vit.New(f)
		w.Network = n
		return w, invalid.At(path, err)
	}
	n, err := resnet.New(f, strideIn1x1)
	if e := (*invalid.Error)(nil); errors.As(err, &e) && e.Hint == resnet.Supported {
		e.Hint += " " + vit.Supported
	}
	if err != nil {
		return nil, invalid.At(path, err)
	}
	w.Network, w.StrideIn1x1 = n, n.StrideIn1x1
	return w, nil
}
