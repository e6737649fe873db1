package train

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

// FuzzLoad checks that any file either loads as a model that scores samples or gives an
// error that names the file.
func FuzzLoad(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, ModelFile)
	for _, v := range model.Variants {
		f.Add(smallModel(f, path, v, preprocess.None))
	}
	f.Add(smallModel(f, path, model.SemanticHard, preprocess.Standardize))
	f.Add(smallModel(f, path, model.KSoft, preprocess.Whiten))
	f.Fuzz(func(t *testing.T, data []byte) {
		writeFile(t, path, data)
		s, err := Load(path)
		if err != nil {
			if s != nil || !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("Load = %v, %v, expected an error that names %s", s, err, path)
			}
			return
		}
		x := dataset.NewMatrix[float32](2, s.Dims)
		u := dataset.NewMatrix[float64](3, len(s.Attributes))
		scores, err := model.Score(s.Classifier, x, []int{1, 0}, u)
		if err != nil || scores.Rows != 2 || scores.Cols != 3 {
			t.Errorf("the model was loaded, but scores %v, %v", scores, err)
		}
		again := filepath.Join(dir, "again")
		if err := Save(again, s); err != nil {
			t.Fatalf("the model was loaded, but cannot be saved: %v", err)
		}
		second, err := Load(again)
		if diff := cmp.Diff(s, second, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); err != nil || diff != "" {
			t.Errorf("%v, (-first +again):\n%s", err, diff)
		}
	})
}

// smallModel returns the file of an untrained model, small enough for
// fuzzing.
func smallModel(t testing.TB, path string, v model.Variant, chain preprocess.Chain) []byte {
	t.Helper()
	semantic := []int{0, 1, 0}
	c := model.Config{Variant: v, Prior: model.Uniform, Complement: model.Const, Zeta: 3}
	if v == model.KSoft {
		c.K = 2
	}
	params, err := c.Init(2, 3, semantic, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := dataset.Matrix[float32]{Rows: 3, Cols: 2, Data: []float32{1, 2, 3, 5, 8, 13}}
	m, err := preprocess.Fit(chain, 1, x, []int{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	s := &Saved{
		Classifier: &model.LAGO{Config: c, Params: params, Semantic: semantic, Transform: m}, Transform: m, Semantic: semantic,
		Dims: 2, Classes: []string{"y", "z"}, Descriptions: dataset.NewMatrix[float64](2, 3), Split: dataset.Split{Train: []int{0}, Test: []int{1}}, Learned: []int{0},
		Dataset: "small", Attributes: []string{"a", "b", "c"}, Groups: []string{"g", "h"},
	}
	if err := Save(path, s); err != nil {
		t.Fatal(err)
	}
	return contents(t, path)
}

// FuzzReadCurve checks that any file is either a curve that can be written again or gives
// an error that names the file.
func FuzzReadCurve(f *testing.F) {
	path := filepath.Join(f.TempDir(), CurveFile)
	if err := someCurve().Write(path); err != nil {
		f.Fatal(err)
	}
	f.Add(contents(f, path))
	f.Add([]byte(`{"epoch":1}` + "\r\n" + `{"epoch":2`))
	f.Fuzz(func(t *testing.T, data []byte) {
		writeFile(t, path, data)
		curve, err := ReadCurve(path, Test)
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, expected one that names %s", err, path)
			}
			return
		}
		if err := curve.Write(path); err != nil {
			t.Fatalf("read, but cannot be written: %v", err)
		}
		again, err := ReadCurve(path, Test)
		if diff := cmp.Diff(curve, again); err != nil || diff != "" {
			t.Errorf("%v, (-first +again):\n%s", err, diff)
		}
	})
}
