package model_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
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
				testkit.NoError(t, json.Unmarshal([]byte(testkit.Read(t, file)), &c))
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

// learned is a configuration whose graphs use every op.
var learned = model.Config{
	Variant: model.SemanticSoft, Prior: model.PerAttribute, Complement: model.DeMorgan, Zeta: 10,
	Alpha: 0.5, Beta: 0.01, Lambda: 0.02, Psi: 0.1,
}

// machines of a trial in the precision of training, by name.
func machines(t *testing.T, tr trial[float64]) map[string]machine {
	return map[string]machine{"W": single(tr).byW(t), "V": single(tr).byV(t)}
}

// Machines use a changed V, independent of its earlier values. Here it is soft or exactly
// one-hot, in which case the complement of a group is impossible.
func TestMachinesUseAChangedV(t *testing.T) {
	c := learned
	c.Zeta = 1000
	tr := newTrial(t, c, sizes{n: 4, d: 5, m: 6, k: 3, z: 4}, 1)
	setColumn(tr.described, 5, 1)
	setColumn(tr.described, 2, 0) // the other of its group
	tr = tr.describe(t)
	soft, hard := copied[float64](tr.params), copied[float64](tr.params)
	for i := range hard.V.Data {
		hard.V.Data[i] = math.Round(hard.V.Data[i])
		soft.V.Data[i] = tr.params.V.Data[i] / 1000
	}
	w, v := tr.byW(t), tr.byV(t)
	for range 2 {
		for _, params := range []*model.Parameters[float64]{hard, soft} {
			anew := tr
			anew.params = params
			copy(tr.params.V.Data, params.V.Data)
			w.Begin(0)
			testkit.Equal(t, "outcome", take(t, w), take(t, anew.byW(t)))
			testkit.Equal(t, "outcome", take(t, v), take(t, anew.byV(t)))
		}
	}
}

// Results are bit-identical in a new machine and for any number of workers.
func TestStepsAreReproducible(t *testing.T) {
	t.Cleanup(func() { parallel.Limit(0) })
	for variant, s := range map[model.Variant]sizes{ // large enough for every loop to run in parallel
		model.Singletons:   {n: 64, d: 300, m: 60, z: 40},
		model.SemanticSoft: {n: 64, d: 300, m: 300, k: 5, z: 20},
	} {
		c := learned
		if c.Variant = variant; variant == model.Singletons {
			c.Psi = 0
		}
		tr := newTrial(t, c, s, 3)
		want := map[string]outcome{}
		for _, workers := range []int{1, 2, 5} {
			parallel.Limit(workers)
			for name, m := range machines(t, tr) {
				t.Run(fmt.Sprintf("%s, %s, %d workers", variant, name, workers), func(t *testing.T) {
					got := take(t, m)
					if _, done := want[name]; !done {
						want[name] = got
					}
					testkit.Equal(t, "outcome", got, want[name])
				})
			}
		}
	}
}

// A batch with fewer labels than samples counts as one of the labelled samples
// alone, independent of the other rows and of earlier batches.
func TestPartialBatchCountsExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := drawTrial(t)
		want := []outcome{take(t, whole.byW(t)), take(t, whole.byV(t))}

		n, spare := whole.x.Rows, rapid.IntRange(1, 4).Draw(t, "rows without a label")
		partial := whole
		partial.Batch = n + spare
		partial.x = uniform(newRand(1), n+spare, whole.x.Cols, -50, 50)
		copy(partial.x.Data, whole.x.Data)
		w, v := partial.byW(t), partial.byV(t)
		w.Label(make([]int, partial.Batch)...)
		v.Label(make([]int, partial.Batch)...)
		take(t, w)
		take(t, v)
		w.Label(partial.y...)
		v.Label(partial.y...)
		take(t, w).close(t, want[0], 1e-9)
		take(t, v).close(t, want[1], 1e-9)
	})
}

// Detections of 1/2 have the entropy log 2, for any number of attributes.
func TestAttributeEntropyOfManyAttributes(t *testing.T) {
	for _, m := range []int{1, 511, 512, 513, 3000} {
		zeros := dataset.NewMatrix[float64](1, m)
		d := testkit.Must(model.Config{Variant: model.Singletons}.Describe(zeros, nil))(t)
		same(t, "bxe", []float64{model.BXE(d, zeros, []int{0})}, []float64{math.Ln2})
	}
}
