package train

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model"
)

// progress is the state in a checkpoint that is not in its tensors.
type progress struct {
	Epochs    int       `json:"epochs"`
	Best      bestEpoch `json:"best"`
	Converged bool      `json:"converged,omitempty"`
	steps
}

// steps are the steps that the solvers of LAGO have taken.
type steps struct {
	W int `json:"steps_w"`
	V int `json:"steps_v"`
}

// steps implements trainer.
func (t *lagoTrainer) steps() steps { return steps{t.adamW.steps, t.adamV.steps} }

// resume implements trainer: it allocates the moments of the solvers.
func (t *lagoTrainer) resume(n steps) {
	p := t.model.Params
	t.adamW.resume(n.W, len(p.W.Data), len(p.B))
	t.adamV.resume(n.V, len(p.V.Data))
}

// tensors implements trainer.
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

// parameterTensors names W, b and V in files.
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

// saveCheckpoint writes the training state. The curve must be written before it, to its
// own file.
func saveCheckpoint(path string, t trainer) error {
	l := t.history()
	p, err := json.Marshal(progress{len(l.curve), l.top, l.converged, t.steps()})
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		return invalid.At(path, safetensors.Write(w, t.tensors(), map[string]string{"progress": string(p)}))
	})
}

// loadCheckpoint restores the training state of a checkpoint. The error is
// fs.ErrNotExist if there is none, and an *invalid.Error if it or the curve is damaged;
// the trainer must then not be used.
func loadCheckpoint(path, curvePath string, stage Stage, t trainer) error {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return err
	}
	if !f.Checksummed {
		return &invalid.Error{Where: path, Want: "a checksum", Got: "none"}
	}
	var p progress
	if err := json.Unmarshal([]byte(f.Metadata["progress"]), &p); err != nil {
		return &invalid.Error{Where: path, Field: "progress", Want: "a JSON object with the epochs and steps so far"}
	}
	curve, err := ReadCurve(curvePath, stage)
	if err != nil {
		return err
	}
	if len(curve) < p.Epochs {
		return &invalid.Error{Where: curvePath, Want: fmt.Sprintf("the %d epochs of the checkpoint", p.Epochs), Got: fmt.Sprint(len(curve))}
	}
	l := t.history()
	if err := p.check(curve, l.settings); err != nil {
		return invalid.At(path, err)
	}
	t.resume(p.steps)
	for _, to := range t.tensors() {
		from, ok := f.Tensor(to.Name)
		if !ok || len(from.F32) != len(to.F32) {
			return &invalid.Error{Where: path, Field: to.Name, Want: fmt.Sprintf("%d float32 values", len(to.F32)), Got: fmt.Sprint(len(from.F32))}
		}
		if !finite.All(from.F32) {
			return &invalid.Error{Where: path, Field: to.Name, Want: "finite values"}
		}
		copy(to.F32, from.F32)
	}
	l.top, l.converged, l.curve = p.Best, p.Converged, curve[:p.Epochs]
	return nil
}

// check returns an error for counts that no run can have reached.
func (p progress) check(curve Curve, s Training) error {
	if p.Epochs < 0 || p.Epochs > s.Epochs || p.Converged && p.Epochs == 0 {
		return &invalid.Error{Field: "epochs", Want: fmt.Sprintf("0 to %d", s.Epochs), Got: fmt.Sprint(p.Epochs)}
	}
	if p.Best.Epoch < 0 || p.Best.Epoch > p.Epochs {
		return &invalid.Error{Field: "best epoch", Want: fmt.Sprintf("0 to %d", p.Epochs), Got: fmt.Sprint(p.Best.Epoch)}
	}
	var want steps
	for _, e := range curve[:p.Epochs] {
		for _, phase := range e.Phases {
			switch phase.Name {
			case "W":
				want.W += phase.Steps
			case "V":
				want.V += phase.Steps
			}
		}
	}
	if p.steps != want {
		return &invalid.Error{Field: "steps", Want: fmt.Sprintf("the %d and %d of the curve", want.W, want.V), Got: fmt.Sprintf("%d and %d", p.W, p.V)}
	}
	return nil
}
