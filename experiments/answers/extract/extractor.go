package extract

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"syscall"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model/network"
	"github.com/lago-train/lago-train/model/network/resnet"
	"github.com/lago-train/lago-train/model/network/vit"
)

// maxBatch is the number of images that are in the network at a time.
const maxBatch = 8

// Extractor computes features of images.
type Extractor struct {
	provenance dataset.Provenance // of the features
	dims       int
	graph      *network.Graph
}

// FeaturesOf computes the features of the content of one photograph, or of the file of its name if that is
// nil.
func (e *Extractor) FeaturesOf(ctx context.Context, name string, content []byte) ([]float32, error) {
	x := e.NewSource(ctx, []images.Image{{ID: name, Path: name, Data: content}}, nil)
	block := dataset.NewMatrix[float32](1, x.Cols())
	_, err := x.Read(block)
	return block.Data, err
}

// New compiles a network for images with a preprocessing, of which there are at least n.
func New(w *Weights, p dataset.ImagePreprocessing, n int) (*Extractor, error) {
	if !p.Sound() {
		return nil, invalid.Expected("preprocessing", p, "crop or squash to at most %d pixels",
			dataset.MaxImageSize)
	}
	g, err := w.Graph(min(n, maxBatch), p.Size)
	if err != nil {
		return nil, err
	}
	from := dataset.Provenance{
		Architecture: w.Name(), WeightsSHA256: w.SHA256, StrideIn1x1: w.StrideIn1x1, Images: p,
	}
	return &Extractor{provenance: from, dims: w.Dims(), graph: g}, nil
}

// each calls do with the features of each image in turn, or with the error of decoding it. The features are
// valid until do returns. Those of an image can depend on its place by some bits, so each has its place,
// broken ones too, whose pixels are 0.
func (e *Extractor) each(ctx context.Context, list []images.Image,
	do func(x []float32, err error) error,
) error {
	for part := range slices.Chunk(list, e.graph.Images.Rows) {
		errs := make([]error, len(part))
		clear(e.graph.Images.Data)
		parallel.For(len(part), 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row := e.graph.Images.Row(i)
				if errs[i] = images.Load(ctx, part[i], e.provenance.Images, row); errs[i] != nil {
					clear(row)
				}
			}
		})
		x, err := e.graph.Features()
		if err != nil {
			return err
		}
		for i, wrong := range errs {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if wrong == nil && matrix.NotFinite(x.Row(i)) >= 0 {
				return invalid.At("--weights",
					invalid.Expected("", "NaN or infinity", "a network with finite features"))
			}
			if err := do(x.Row(i), wrong); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// Source supplies the features of images one block after the other, see package predict.
type Source struct {
	// OnBroken decides about an image that cannot be decoded: if it returns nil, the image is left out.
	// Without it such an image is an error.
	OnBroken func(m images.Image, err error) error

	ctx        context.Context
	extractor  *Extractor
	list       []images.Image
	next       int
	read       []int // the images of the rows that were read
	onProgress func(format.Progress)
	progress   format.Progress
}

// NewSource returns the features of images. onProgress may be nil.
func (e *Extractor) NewSource(ctx context.Context, list []images.Image,
	onProgress func(format.Progress),
) *Source {
	return &Source{
		ctx: ctx, extractor: e, list: list, onProgress: onProgress,
		progress: format.NewProgress("extracting", "images", 0, int64(len(list))),
	}
}

// Cols returns D, the number of features.
func (s *Source) Cols() int { return s.extractor.dims }

// Read fills the first rows of a block.
func (s *Source) Read(block dataset.Matrix[float32]) (n int, err error) {
	for err == nil && n < block.Rows && s.next < len(s.list) {
		err = s.extractor.each(s.ctx, s.list[s.next:min(s.next+block.Rows-n, len(s.list))],
			func(x []float32, err error) error {
				if err != nil && s.OnBroken != nil && isBroken(err) {
					err = s.OnBroken(s.list[s.next], err)
				} else if err == nil {
					copy(block.Row(n), x)
					s.read = append(s.read, s.next)
					n++
				}
				if err == nil {
					s.next++
					tick(&s.progress, s.onProgress)
				}
				return err
			})
	}
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// isBroken reports whether the error of decoding an image is one of the image, not of the system, such
// as too many open files.
func isBroken(err error) bool {
	return errors.As(err, new(*invalid.Error)) && !errors.As(err, new(syscall.Errno))
}

// Sample returns the index, the name and the class of the image of a row, "" if it is not known.
func (s *Source) Sample(i int) (index int, id, class string) {
	m := s.list[s.read[i]]
	return s.read[i], m.ID, m.Class
}

func tick(p *format.Progress, report func(format.Progress)) {
	p.Done++
	if report != nil {
		report(*p)
	}
}

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

// ReadNetwork reads the weights of a network from a safetensors file, in float32, float16 or
// bfloat16, with the names of a published network. A file of another network is an *invalid.Error that
// names the first tensor that does not fit; its numbers are not read.
func ReadNetwork(ctx context.Context, path string, o NetworkOptions) (*Weights, error) {
	file, size, err := fileio.OpenRegular(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	sum := sha256.New()
	f, err := safetensors.Read(bufio.NewReaderSize(io.TeeReader(file, sum), 1<<20), size, path,
		func(header *safetensors.File) (func(string) bool, error) {
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

// network makes the network of the tensors of a file, or checks their header. needed are those that it needs.
func (o NetworkOptions) network(f *safetensors.File) (w *Weights, needed map[string]bool, err error) {
	f, needed, err = network.Rename(f)
	if err != nil {
		return nil, nil, err
	}
	w = new(Weights)
	if vit.Is(f) {
		if o.StrideIn1x1 != nil && *o.StrideIn1x1 {
			return nil, nil, invalid.Expected("stride in the 1x1 convolution", "a vision transformer",
				"a ResNet")
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
	return w, needed, err
}
