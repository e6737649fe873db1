package train

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model/method"
)

// progress is the state in a checkpoint that is not in its tensors.
type progress struct {
	Epochs    int       `json:"epochs"`
	Best      bestEpoch `json:"best"`
	Converged bool      `json:"converged,omitempty"`
}

// tensors lists the training state to checkpoint: the learner's and the kept model's.
func (r *trainer) tensors() []safetensors.Tensor {
	return append(named("state.", r.learner.State()), named("kept.", r.kept)...)
}

// named returns tensors as they are in files.
func named(prefix string, t method.Tensors) []safetensors.Tensor {
	list := make([]safetensors.Tensor, len(t))
	for i, m := range t {
		list[i] = safetensors.Tensor{Name: prefix + m.Name, Shape: []int{m.Matrix.Rows, m.Matrix.Cols}, F32: m.Matrix.Data}
	}
	return list
}

// save writes the training state. The curve must be written before it, to its own file.
func (r *trainer) save(path string) error {
	p, err := json.Marshal(progress{len(r.curve), r.top, r.converged})
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		return invalid.At(path, safetensors.Write(w, r.tensors(), map[string]string{"progress": string(p)}))
	})
}

// load restores the training state of a checkpoint. The error is fs.ErrNotExist if there is
// none, and an *invalid.Error if it or the curve is damaged; the trainer must then not be
// used.
func (r *trainer) load(path, curvePath string) error {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return err
	}
	if !f.Checksummed {
		return &invalid.Error{Where: path, Want: "a checksum", Got: "none"}
	}
	var p progress
	if err := json.Unmarshal([]byte(f.Metadata["progress"]), &p); err != nil {
		return &invalid.Error{Where: path, Field: "progress", Want: "a JSON object with the epochs so far"}
	}
	if err := p.check(r.trial.Epochs); err != nil {
		return invalid.At(path, err)
	}
	curve, err := ReadCurve(curvePath, r.trial.Stage)
	if err != nil {
		return err
	}
	if len(curve) < p.Epochs {
		return &invalid.Error{Where: curvePath, Want: fmt.Sprintf("the %d epochs of the checkpoint", p.Epochs), Got: fmt.Sprint(len(curve))}
	}
	for _, to := range r.tensors() {
		from, ok := f.Tensor(to.Name)
		if !ok || len(from.F32) != len(to.F32) {
			return &invalid.Error{Where: path, Field: to.Name, Want: fmt.Sprintf("%d float32 values", len(to.F32)), Got: fmt.Sprint(len(from.F32))}
		}
		if !finite.All(from.F32) {
			return &invalid.Error{Where: path, Field: to.Name, Want: "finite values"}
		}
		copy(to.F32, from.F32)
	}
	r.top, r.converged, r.curve = p.Best, p.Converged, curve[:p.Epochs]
	return nil
}

// check returns an error for counts that no run of so many epochs can have reached.
func (p progress) check(epochs int) error {
	if p.Epochs < 0 || p.Epochs > epochs || p.Converged && p.Epochs == 0 {
		return &invalid.Error{Field: "epochs", Want: fmt.Sprintf("0 to %d", epochs), Got: fmt.Sprint(p.Epochs)}
	}
	if p.Best.Epoch < 0 || p.Best.Epoch > p.Epochs {
		return &invalid.Error{Field: "best epoch", Want: fmt.Sprintf("0 to %d", p.Epochs), Got: fmt.Sprint(p.Best.Epoch)}
	}
	return nil
}
