package train

import (
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/preprocess"
)

func someTrial() Trial {
	return trialOn(&dataset.Dataset{Name: "birds"}, model.KSoft, Dev)
}

// eachField calls f for every field of a struct, including nested ones.
func eachField(name string, v reflect.Value, f func(name string, v reflect.Value)) {
	if v.Kind() != reflect.Struct {
		f(name, v)
		return
	}
	for i := range v.NumField() {
		eachField(name+"."+v.Type().Field(i).Name, v.Field(i), f)
	}
}

func TestEqualTrialsHaveTheSameName(t *testing.T) {
	if a, b := someTrial().Name(), someTrial().Name(); a != b {
		t.Errorf("equal trials are named %s and %s", a, b)
	}
	if name := someTrial().Name(); !strings.HasPrefix(name, "birds-k-soft-dev-seed1-") {
		t.Errorf("the name %s does not begin with data set, method, stage and seed", name)
	}
}

func TestEveryFieldChangesTheName(t *testing.T) {
	trial := someTrial()
	owner := map[string]string{trial.Name(): "the trial itself"}
	eachField("Trial", reflect.ValueOf(&trial).Elem(), func(field string, v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Int:
			v.SetInt(v.Int() + 1)
		case reflect.Uint64:
			v.SetUint(v.Uint() + 1)
		case reflect.Float64:
			v.SetFloat(math.Nextafter(v.Float(), math.Inf(1)))
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Interface: // the settings of a baseline
			v.Set(reflect.ValueOf(eszsl.Config{Gamma: 1, Lambda: 2}))
		default:
			t.Fatalf("%s is a %v, which this test cannot change", field, v.Kind())
		}
		name := trial.Name()
		if other, ok := owner[name]; ok {
			t.Errorf("a change of %s gives the name of %s", field, other)
		}
		owner[name] = field
		trial = someTrial()
	})
}

// Any name of a data set gives a folder below that of the runs.
func TestNamesAreFolders(t *testing.T) {
	for _, name := range []string{"cub", "a/b", `a\b`, "../../etc", "C:", "simulated tiny", "", ".", ".."} {
		trial := someTrial()
		trial.Dataset = name
		folder := trial.Name()
		if strings.ContainsAny(folder, `/\: `) || filepath.Base(folder) != folder || !filepath.IsLocal(folder) {
			t.Errorf("the trial on %q is named %q", name, folder)
		}
	}
	slash, backslash := someTrial(), someTrial()
	slash.Dataset, backslash.Dataset = "a/b", `a\b`
	if slash.Name() == backslash.Name() {
		t.Errorf("trials on a/b and a\\b are both named %s", slash.Name())
	}
}

func TestTrialCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Trial)
		want   string // empty if valid
	}{
		{"valid", func(*Trial) {}, ""},
		{"valid, whitened", func(t *Trial) { t.Preprocess, t.Ridge = preprocess.Whiten, 10 }, ""},
		{"no stage", func(t *Trial) { t.Stage = "" }, `stage: expected dev or test, found ""`},
		{"another stage", func(t *Trial) { t.Stage = "val" }, `stage: expected dev or test, found "val"`},
		{"zeta", func(t *Trial) { t.Model.Zeta = math.NaN() }, "zeta: expected a finite number above 0, found NaN"},
		{"infinite ridge", func(t *Trial) { t.Ridge = math.Inf(1) }, "ridge: expected a finite number, 0 or above, found +Inf"},
		{"no ridge", func(t *Trial) { t.Ridge = math.NaN() }, "ridge: expected a finite number, 0 or above, found NaN"},
		{"negative ridge", func(t *Trial) { t.Ridge = -1 }, "ridge: expected a finite number, 0 or above, found -1"},
		{"settings", func(t *Trial) { t.Training.LearningRate = math.Inf(1) }, "lr: expected a finite number above 0, found +Inf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			trial := someTrial()
			c.change(&trial)
			var got string
			if err := trial.Check(); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("error %q, expected %q", got, c.want)
			}
		})
	}
}

// Name needs a trial that passes Check, since JSON has no NaN.
func TestNameOfAnInvalidTrialPanics(t *testing.T) {
	trial := someTrial()
	trial.Ridge = math.NaN()
	defer func() {
		if recover() == nil {
			t.Errorf("a trial that does not pass Check is named %s", trial.Name())
		}
	}()
	_ = trial.Name()
}
