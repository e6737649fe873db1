package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/lago"
	"github.com/lago-train/lago-train/train/methods"
)

// Preset is the settings that a run of a method on a data set starts from.
type Preset struct {
	Config
	// Expect is the published test accuracy for each seed, a fraction; empty where the
	// settings were not published for this data set.
	Expect []float64
	Source string
	// ChosenOn is the fingerprint of the data on which a search chose the settings, "" if none did.
	ChosenOn string
	// Origins says where values come from that are no defaults, by key: FromPreset, or the flag or
	// file that gave the value.
	Origins map[string]string
}

// FromPreset is the origin of published settings, and FromDefaults the source of others.
const (
	FromPreset   = "preset"
	FromDefaults = "defaults"
)

// presetOf names the data sets that take the settings of another one.
var presetOf = map[string]string{"cub127": "cub"}

// GeneralFor returns the general defaults of a method for a data set, whether or not its
// settings were published.
func GeneralFor(dataset string, m methods.Named) Preset {
	p := Preset{Config: Defaults(m), Source: FromDefaults, Origins: map[string]string{}}
	p.Dataset = catalog.Canonical(dataset)
	return p
}

// PresetFor returns the settings that a run of a method on a data set starts from: those
// that the authors of the paper published, otherwise the general defaults.
func PresetFor(dataset string, m methods.Named) Preset {
	p := GeneralFor(dataset, m)
	of := cmp.Or(presetOf[p.DataName()], p.DataName())
	r, ok := publishedRun(of, m.Variant())
	if !ok {
		return p
	}
	values := map[string]any{ // none of lr_v was published for variants which do not train V
		"lr": r.LearningRate, "bias_factor": 1.0, "beta": r.Beta, "lambda": r.Lambda,
		"lr_v": cmp.Or(r.LearningRateV, 0.1), "zeta": r.Zeta,
		"k": r.K, "psi": r.Psi, "alpha": r.Alpha, "batch": r.Batch, "preprocess": preprocess.None,
		"correction":   model.NoCorrection,
		"freeze_prior": false, "smoothing": 0.0,
	}
	for _, s := range p.Settings() {
		if v, has := values[s.Key]; has {
			s.Set(v)
			p.Origins[s.Key] = FromPreset
		}
	}
	p.paperEpochs, p.Source = r.Epochs, fmt.Sprintf("the authors' settings for %s on %s", m.Variant(),
		r.Dataset)
	if of == p.DataName() {
		for _, percent := range r.Accuracy {
			p.Expect = append(p.Expect, percent/100)
		}
	}
	return p
}

// CheckOn returns an *invalid.Error for the first setting that no run on the data can have, so that
// none is started.
func (p Preset) CheckOn(d *dataset.Dataset) error {
	c := p.On(d)
	var e *invalid.Error
	// without groups, plans leave out the variants that need them
	if s, ok := c.Method.Method.(*lago.Settings); ok && (d.Groups != nil || !s.Variant.Semantic()) {
		if _, _, err := s.Grouping(len(d.Attributes), d.GroupOf()); errors.As(err, &e) {
			return p.at(e)
		}
	}
	if c.HoldOut && errors.As(train.CheckHeldOut(d, "hold_out"), &e) {
		return p.at(e)
	}
	return nil
}

// at adds the place where the value of its field was given to an error.
func (p Preset) at(e *invalid.Error) error {
	where := p.Origins[e.Field]
	if where == FromPreset {
		where = ""
	}
	return at(where, e.Field, e)
}

// at adds the place where the value of a setting was given, a file or a flag, to an error.
func at(where, key string, err error) error {
	e := (*invalid.Error)(nil)
	if errors.As(err, &e) {
		if e.Where, e.Field, e.Usage = where, key, strings.HasPrefix(where, "-"); e.Usage {
			e.Field = ""
		}
	}
	return err
}

// fingerprintKey is a key of config files that a search wrote: the fingerprint of the data
// set and split on which the settings were chosen. It is no setting.
const fingerprintKey = "fingerprint"

// maxConfigBytes is far more than a config file needs.
const maxConfigBytes = 1 << 20

// ReadFile reads a config file: one JSON object of settings, which Resolve checks. Keys that
// occur twice are errors.
func ReadFile(ctx context.Context, path string) ([]setting.Assignment, error) {
	data, err := fileio.ReadFile(ctx, path, maxConfigBytes)
	if err != nil {
		return nil, err
	}
	list, err := setting.ParseJSON(data)
	for i := range list {
		list[i].Where = path
	}
	return list, invalid.At(path, err)
}

// Resolve returns the settings of a run: those that start, PresetFor or GeneralFor, has for
// the assigned data set and variant, with the assigned values over them in their order. A value
// that does not apply to the run is an error; in a file, it may repeat that of the start.
func Resolve(list []setting.Assignment, start func(dataset string, m methods.Named) Preset) (Preset, error) {
	first := Defaults(methods.Variant(model.SemanticHard))
	for _, a := range list {
		if a.Key == "dataset" || a.Key == "method" {
			if err := first.Settings().Set(a); err != nil {
				return Preset{}, at(a.Where, a.Key, err)
			}
		}
	}
	p := start(first.Dataset, first.Method)
	preset := p.Config.Clone()
	for _, a := range list {
		p.Origins[a.Key] = a.Where
		err := error(nil)
		switch {
		case a.Key == "method": // it is that of the start
		case a.Key == fingerprintKey && a.Kind != "":
			p.ChosenOn = a.Text
		case a.Key == "variant":
			err = &invalid.Error{Want: "the key method", Got: "variant, its name up to results version 10"}
		case !p.Settings().Has(a.Key) && All().Has(a.Key):
			err = &invalid.Error{
				Want: "a variant of LAGO, which has this setting", Got: "method " + p.Method.Label(),
			}
		default:
			err = p.Settings().Set(a)
		}
		if err != nil {
			return p, at(a.Where, a.Key, err)
		}
	}
	for _, a := range list {
		s, err := p.Settings().Find(a.Key)
		if err != nil || !s.Unused {
			continue // the error is that of the fingerprint
		}
		if before, _ := preset.Settings().Find(a.Key); a.Kind != "" && s.Value() == before.Value() {
			continue
		}
		return p, at(a.Where, a.Key, &invalid.Error{Want: s.For, Got: p.otherwise(s)})
	}
	return p, p.Check()
}

// otherwise says why a setting does not apply to c.
func (c *Config) otherwise(s setting.Setting) string {
	for _, key := range []string{"method", "preprocess", "stage", "correction"} {
		if other, err := c.Settings().Find(key); err == nil && strings.HasPrefix(s.For, key) {
			return fmt.Sprintf("%s %v", key, other.Value())
		}
	}
	return "another run"
}

// SearchFile returns the path of the config file that a search writes for a method on a
// data set. Each split into train and validation classes has its own.
func SearchFile(dir, dataset string, devSplit int, method string) string {
	split := ""
	if devSplit != 1 {
		split = fmt.Sprintf("-split%d", devSplit)
	}
	return filepath.Join(dir, fmt.Sprintf("search-%s%s-%s.json", catalog.NameOf(dataset), split, method))
}
