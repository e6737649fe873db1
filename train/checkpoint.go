package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/safetensors"
)

// progress is what a checkpoint holds beside tensors.
type progress struct {
	Epochs    int       `json:"epochs"`
	Best      bestEpoch `json:"best"`
	Converged bool      `json:"converged,omitempty"`
	steps
}

// steps are those of the solvers of LAGO.
type steps struct {
	W int `json:"steps_w"`
	V int `json:"steps_v"`
}

// steps returns how many each solver has taken.
func (t *lagoTrainer) steps() steps { return steps{t.adamW.steps, t.adamV.steps} }

// resume makes room for the moments of solvers that have taken some steps.
func (t *lagoTrainer) resume(n steps) {
	p := t.model.Params
	t.adamW.resume(n.W, len(p.W.Data), len(p.B))
	t.adamV.resume(n.V, len(p.V.Data))
}

// tensors names the memory of the state, to be written to a checkpoint or filled
// from one.
func (t *lagoTrainer) tensors() []safetensors.Tensor {
	list := parameterTensors("", t.model.Params)
	if t.kept != t.model.Params {
		list = append(list, parameterTensors("kept.", t.kept)...)
	}
	for _, a := range []struct {
		name string
		adam *adam
	}{{"adam_w", &t.adamW}, {"adam_v", &t.adamV}} {
		for i, m := range a.adam.moments {
			prefix := a.name + "." + strconv.Itoa(i)
			list = append(list, vector(prefix+".mean", m.mean), vector(prefix+".square", m.square))
		}
	}
	return list
}

// parameterTensors names W, b and V as model files do.
func parameterTensors(prefix string, p *model.Parameters[float32]) []safetensors.Tensor {
	return []safetensors.Tensor{
		{Name: prefix + "W", Shape: []int{p.W.Rows, p.W.Cols}, F32: p.W.Data},
		vector(prefix+"b", p.B),
		{Name: prefix + "V", Shape: []int{p.V.Rows, p.V.Cols}, F32: p.V.Data},
	}
}

func vector(name string, data []float32) safetensors.Tensor {
	return safetensors.Tensor{Name: name, Shape: []int{len(data)}, F32: data}
}

// saveCheckpoint writes the state of training, whole or not at all. The curve is in a
// file of its own, written before.
func saveCheckpoint(path string, t trainer) error {
	l := t.history()
	p, err := json.Marshal(progress{len(l.curve), l.top, l.converged, t.steps()})
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		return safetensors.Write(w, t.tensors(), map[string]string{"progress": string(p)})
	})
}

// loadCheckpoint takes training up where a checkpoint left it. Without one it
// returns false, and training starts from the beginning.
func loadCheckpoint(path, curvePath string, t trainer) (bool, error) {
	f, err := safetensors.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var p progress
	if err := json.Unmarshal([]byte(f.Metadata["progress"]), &p); err != nil {
		return false, fmt.Errorf("%s: progress: %w", path, err)
	}
	if min(p.Epochs, p.Best.Epoch, p.W, p.V) < 0 || p.Best.Epoch > p.Epochs {
		return false, fmt.Errorf("%s: progress: expected counts, and the best epoch to be one of the epochs, found %+v", path, p)
	}
	curve, err := ReadCurve(curvePath)
	if err != nil {
		return false, err
	}
	if len(curve) < p.Epochs {
		return false, fmt.Errorf("%s: expected the %d epochs of the checkpoint, found %d", curvePath, p.Epochs, len(curve))
	}
	t.resume(p.steps)
	for _, to := range t.tensors() {
		from, ok := f.Tensor(to.Name)
		if !ok || len(from.F32) != len(to.F32) {
			return false, fmt.Errorf("%s: %s: expected %d float32 values, found %d", path, to.Name, len(to.F32), len(from.F32))
		}
		copy(to.F32, from.F32)
	}
	l := t.history()
	l.top, l.converged, l.curve = p.Best, p.Converged, curve[:p.Epochs]
	return true, nil
}
