package extract

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
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

// NetworkOptions say what the tensors of a network do not.
type NetworkOptions struct {
	StrideIn1x1 *bool          // of a ResNet; nil for what the metadata say
	Activation  vit.Activation // of a CLIP; "" for the usual one
}

// mostWeights is the size of a file up to which it is read, above that of any published network.
const mostWeights = 1 << 35

// ReadNetwork reads the weights of a network from a safetensors file, in float32, float16 or
// bfloat16, with the names of a published network. A file of another network is an *invalid.Error that
// names the first tensor that does not fit; its numbers are not read.
func ReadNetwork(ctx context.Context, path string, o NetworkOptions) (*Weights, error) {
	file, size, err := fileio.OpenRegular(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	if size > mostWeights {
		return nil, &invalid.Error{Where: path, Want: "weights of at most " + format.Bytes(mostWeights), Got: format.Bytes(size)}
	}
	sum := sha256.New()
	f, err := safetensors.Read(bufio.NewReaderSize(io.TeeReader(file, sum), 1<<20), size, path, func(header *safetensors.File) (func(string) bool, error) {
		_, needed, err := o.network(header)
		return func(tensor string) bool { return needed[tensor] && vit.Needs(tensor) }, err
	})
	if err != nil {
		return nil, err
	}
	w, _, err := o.network(f)
	if err != nil {
		return nil, invalid.At(path, err)
	}
	w.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return w, nil
}

// network makes the network of the tensors of a file, or checks their header. needed are those that it
// needs.
func (o NetworkOptions) network(f *safetensors.File) (w *Weights, needed map[string]bool, err error) {
	f, needed, like, err := network.Rename(f)
	if err != nil {
		return nil, nil, err
	}
	w = new(Weights)
	if vit.Is(f) {
		if o.StrideIn1x1 != nil && *o.StrideIn1x1 {
			return nil, nil, &invalid.Error{Field: "stride in the 1x1 convolution", Want: "a ResNet", Got: "a vision transformer"}
		}
		w.Network, err = vit.New(f, o.Activation)
	} else {
		if o.Activation != "" {
			return nil, nil, &invalid.Error{Field: "activation", Want: "a CLIP", Got: "a ResNet"}
		}
		var n *resnet.Network
		if n, err = resnet.New(f, o.StrideIn1x1); err == nil {
			w.Network, w.StrideIn1x1 = n, n.StrideIn1x1
		}
	}
	if e := (*invalid.Error)(nil); errors.As(err, &e) && e.Hint == network.Supported {
		e.Hint = like + " " + e.Hint
	}
	return w, needed, err
}
