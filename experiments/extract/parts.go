package extract

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
)

// partFile returns the file of a part: the features of its images, zeros for broken ones,
// whose errors are in the metadata.
func (w *work) partFile(part int) string {
	return filepath.Join(w.parts, fmt.Sprintf("%06d.safetensors", part))
}

// imagesOf returns the images of a part.
func (w *work) imagesOf(part int) []images.Image {
	return w.Images[part*partImages : min((part+1)*partImages, len(w.Images))]
}

func (w *work) isDone(part int) bool {
	_, err := os.Stat(w.partFile(part))
	return err == nil
}

// left returns the number of images that are in no part yet.
func (w *work) left() int {
	n := 0
	for part := range w.n {
		if !w.isDone(part) {
			n += len(w.imagesOf(part))
		}
	}
	return n
}

const (
	featuresTensor = "features"
	skippedKey     = "skipped"
)

func (w *work) writePart(part int, x []float32, broken []Skipped) error {
	text, err := json.Marshal(broken)
	if err != nil {
		return err
	}
	t := safetensors.Tensor{Name: featuresTensor, Shape: []int{len(x) / w.network.Dims, w.network.Dims}, F32: x}
	return atomicfile.Write(w.partFile(part), func(to io.Writer) error {
		return safetensors.Write(to, []safetensors.Tensor{t}, map[string]string{skippedKey: string(text)})
	})
}

// readPart calls do for each image of a part; reason is empty unless it is broken.
func (w *work) readPart(part int, do func(m images.Image, x []float32, reason string) error) error {
	path := w.partFile(part)
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return err
	}
	list, d := w.imagesOf(part), w.network.Dims
	t, _ := f.Tensor(featuresTensor)
	var broken []Skipped
	if err := json.Unmarshal([]byte(f.Metadata[skippedKey]), &broken); err != nil || !f.Checksummed || len(t.F32) != len(list)*d {
		return &invalid.Error{Where: path, Want: fmt.Sprintf("the features of %s", format.Count(len(list), "image")), Hint: "The file is damaged: remove it."}
	}
	for i, m := range list {
		reason := ""
		if len(broken) > 0 && broken[0].Path == m.ID {
			reason, broken = broken[0].Reason, broken[1:]
		}
		if err := do(m, t.F32[i*d:(i+1)*d], reason); err != nil {
			return err
		}
	}
	return nil
}
