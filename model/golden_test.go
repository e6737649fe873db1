package model_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// goldenCase is a small problem with every intermediate and gradient in float64,
// from an independent implementation made for this project.
type goldenCase struct {
	Kind            string  `json:"kind"`
	UniformPrior    bool    `json:"uniform_prior"`
	ConstComplement bool    `json:"const_complement"`
	Alpha           float64 `json:"alpha"`
	Beta            float64 `json:"beta"`
	Lambda          float64 `json:"lambda_"`
	Psi             float64 `json:"psi"`
	Zeta            float64 `json:"zeta"`
	Groups          []int   `json:"groups"`

	X [][]float64 `json:"X"`
	Y []int       `json:"y"`
	U [][]float64 `json:"U_class_by_attribute"`
	W [][]float64 `json:"W"`
	B []float64   `json:"b"`
	V [][]float64 `json:"V"`

	A     [][]float64   `json:"A"`
	Gamma [][]float64   `json:"Gamma"`
	G     [][][]float64 `json:"G_sample_group_class"`
	LogP  [][]float64   `json:"log_p_class"`
	CXE   float64       `json:"cxe"`
	BXE   float64       `json:"bxe"`
	W2    float64       `json:"w2"`
	WU2   float64       `json:"wu2"`
	Prior float64       `json:"prior"`
	Loss  float64       `json:"loss"`
	DW    [][]float64   `json:"dW"`
	DB    []float64     `json:"db"`
	DV    [][]float64   `json:"dV"`
}

func (c goldenCase) config() model.Config {
	config := model.Config{
		Variant: model.Variant(c.Kind), Prior: model.PerAttribute, Complement: model.DeMorgan,
		Zeta: c.Zeta, K: len(c.V[0]), Alpha: c.Alpha, Beta: c.Beta, Lambda: c.Lambda, Psi: c.Psi,
	}
	if c.Kind == "hard" {
		config.Variant = model.SemanticHard
	}
	if c.UniformPrior {
		config.Prior = model.Uniform
	}
	if c.ConstComplement {
		config.Complement = model.Const
	}
	return config
}

// TestGolden compares every intermediate, the loss and its gradients to 1e-9. The cases
// are in testdata and, if set, in the folder $LAGO_GOLDEN.
func TestGolden(t *testing.T) { eachGolden(t, "golden", "LAGO_GOLDEN", goldenCase.check) }

// eachGolden checks the cases of a folder of testdata and of the one that a variable of the
// environment names.
func eachGolden[C any](t *testing.T, folder, variable string, check func(C, *testing.T)) {
	folders := []string{filepath.Join("testdata", folder)}
	if dir := os.Getenv(variable); dir != "" {
		folders = append(folders, dir)
	}
	for _, dir := range folders {
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no golden cases in %s (%v)", dir, err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				var c C
				if err := json.Unmarshal(testkit.Must(os.ReadFile(file))(t), &c); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				check(c, t)
			})
		}
	}
}

func (c goldenCase) check(t *testing.T) {
	config := c.config()
	classes := testkit.Must(config.Describe(matrix(c.U), c.Groups))(t)
	params := &model.Parameters[float64]{W: matrix(c.W), B: c.B, V: matrix(c.V)}

	a := c.checkForward(t, config, classes, params)
	w := testkit.Must(model.NewWMachine(config, classes, params, len(c.X)))(t)
	copy(w.X.Data, matrix(c.X).Data)
	w.Label(c.Y...)
	w.Begin(0)
	terms := testkit.Must(w.Step())(t)
	same(t, "terms", outcome{Terms: terms}.terms(), []float64{c.CXE, c.BXE, c.W2, c.WU2, c.Prior})
	same(t, "dW", grad(t, w.Learnables()[0]), matrix(c.DW).Data)
	same(t, "db", grad(t, w.Learnables()[1]), c.DB)

	v := testkit.Must(model.NewVMachine(config, classes, params, len(c.X)))(t)
	copy(v.X.Data, a)
	v.Label(c.Y...)
	v.Begin(terms.BXE)
	byV := testkit.Must(v.Step())(t)
	same(t, "terms of the V machine", outcome{Terms: byV}.terms(), outcome{Terms: terms}.terms())
	same(t, "dV", grad(t, v.Learnables()[0]), matrix(c.DV).Data)

	same(t, "loss", []float64{config.Loss(terms), w.Loss()}, []float64{c.Loss, c.Loss})
	same(t, "loss of the V machine", []float64{config.Loss(byV), v.Loss()}, []float64{c.Loss, c.Loss})
}

// checkForward checks the forward path and returns A.
func (c goldenCase) checkForward(t *testing.T, config model.Config, classes *model.Description, params *model.Parameters[float64]) []float64 {
	a := dataset.NewMatrix[float64](len(c.X), len(c.B))
	params.Logits(matrix(c.X), a)
	model.Sigmoid(a.Data, a.Data)
	same(t, "A", a.Data, matrix(c.A).Data)
	same(t, "Gamma", params.Groups(c.Zeta).Data, matrix(c.Gamma).Data)

	f := testkit.Must(model.NewForward(config, classes, params))(t)
	logP := dataset.NewMatrix[float64](len(c.X), len(c.U))
	testkit.NoError(t, f.LogP(a, logP))
	same(t, "log p(z|x)", logP.Data, matrix(c.LogP).Data)
	for n, want := range c.G {
		same(t, fmt.Sprintf("G of sample %d", n), f.GroupScores(a.Row(n)).Data, matrix(want).Data)
	}
	return a.Data
}
