package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// Request is what a user gives for a study beside its own settings: settings of runs, in flags and
// files, and how the classes are divided. Resolve makes Presets of it.
type Request struct {
	Assigned []setting.Assignment // settings of runs on the command line
	Given    []string             // keys of all settings on the command line, of the study and of runs
	// Presets are the settings of the runs: one or, with Methods, first those that methods of any kind have
	// in common, with the correction, and then those of each variant of LAGO.
	Presets []Preset
	Unused  []string // keys of File that the study decides itself

	// Variants are those of which a study takes one, set by its Settings; nil for any method.
	Variants []model.Variant
	// Methods are the names of methods, each variant of which has its own settings; nil for a study of one.
	Methods *[]string

	From      Start
	Ungrouped bool // the data have no attribute groups: LAGO with singletons is the default method

	File       string
	Folder     string // of files, one for each variant
	Out        string // folder of the runs
	Rotate     int
	RotateSeed uint64
	Folds      int

	stages, searching bool                            // the study has the setting stage, or chooses settings
	published         bool                            // the data are those of the paper's settings
	read              map[string][]setting.Assignment // files, once each
}

func (r *Request) has(key string) bool { return slices.Contains(r.Given, key) }

// The default epochs and patience of studies that search settings: so many trials cannot each have the length
// of a single run. rotationSeeds is their default number of seeds with rotation: intervals are over classes.
const searchEpochs, searchPatience, rotationSeeds = "60", "10", "3"

// defaultFolds is the number of divisions of the seen classes in the xlsa17 release.
const defaultFolds = 3

// MaxBudget is more settings than a search can try in a year.
const MaxBudget = 10_000

// All lists all settings of runs of LAGO, with their defaults.
func All() setting.List {
	c := Defaults(methods.Variant(model.SemanticHard))
	return c.Settings()
}

// RunSettings are those of a run but some, and where they start from.
func (r *Request) RunSettings(but ...string) setting.List {
	r.stages = !slices.Contains(but, "stage")
	list := append(All(), setting.Raw("config", &r.File, "").In(setting.Protocol).Common().
		Describe("`FILE` settings in JSON, keys as the flags with _ for -; flags override it"),
		setting.Choice("preset", &r.From, Auto, Auto, Paper, General).In(setting.Protocol).
			Describe("start from the paper's settings or from general defaults; auto: the paper's on "+
				"its own features and split"))
	return list.Without(but...)
}

// inStudies are the settings that have flags in studies, beside those of files. Config files can have all.
var inStudies = []string{
	"dataset", "seeds", "seed", "method", "epochs", "patience", "preprocess", "lr", "config", "preset",
}

// DevSettings are those of studies whose dev stage decides the epochs of the test stage, if they have one.
func (r *Request) DevSettings(but ...string) setting.List {
	list := r.RunSettings(append(but, "stage")...)
	rare := slices.DeleteFunc(list.Keys(), func(key string) bool { return slices.Contains(inStudies, key) })
	return ofDev(list.Without(rare...), strconv.Itoa(defaultEpochs))
}

// ofDev changes what the help says of epochs to those of the dev stage.
func ofDev(list setting.List, epochs string) setting.List {
	i := slices.Index(list.Keys(), "epochs")
	list[i].Note, list[i].Help = epochs, "`N` number of epochs, at most, of the dev stage"
	return list
}

// SearchSettings are those of studies that choose settings, with their defaults and the folds.
func (r *Request) SearchSettings(but ...string) setting.List {
	list := ofDev(r.RunSettings(append(but, "stage")...), searchEpochs)
	r.searching = true
	for i, s := range list {
		switch s.Key {
		case "patience":
			list[i].Note = searchPatience
		case "seeds":
			list[i].Note = s.DefaultText() + ", or " + rotationSeeds + " with --rotate"
		}
	}
	return append(list, setting.Whole("folds", &r.Folds, 0, setting.Count).In(setting.Searching).
		Noted("3, or 1 with --dev-split or in a rotation").
		Describe("`N` divisions of the seen classes on which settings are chosen: those of the data set if "+
			"it has N, otherwise N random parts in turn; 1 takes the split of --dev-split"))
}

// VariantSettings are those that several variants have in common, for studies that run the full
// protocol, and the folder of config files.
func (r *Request) VariantSettings() setting.List {
	return append(r.DevSettings("method", "config"), r.FolderSetting())
}

// FolderSetting is the folder of config files.
func (r *Request) FolderSetting() setting.Setting {
	return setting.Raw("configs", &r.Folder, "").In(setting.Protocol).Common().
		Describe("`DIR` folder with the config files of search, one per variant")
}

// RotationSettings are those of studies that can take each class as unseen once.
func (r *Request) RotationSettings() setting.List {
	return setting.List{
		setting.Whole("rotate", &r.Rotate, 0, setting.Count).In(setting.Data).Noted("no rotation").Common().
			Describe("`N` parts, at least 3, into which the classes are divided; each is unseen once"),
	}
}

// Keys are the settings of runs that were given, without that of the data's split.
func (r *Request) Keys() []string {
	return slices.DeleteFunc(All().Keys(), func(key string) bool { return key == "dev_split" || !r.has(key) })
}

// FoldsFor returns the number of folds. The split of the settings may come from a config file.
func (r *Request) FoldsFor(p Preset) (int, error) {
	ofSplit := r.has("dev_split") || p.DevSplit != 1
	switch {
	case r.Folds == 0 && (ofSplit || r.Rotate > 0):
		return 1, nil
	case r.Folds > 1 && ofSplit:
		return 0, invalid.Expected("folds", r.Folds, "1, because %s names one split", p.Origins["dev_split"])
	}
	return cmp.Or(r.Folds, defaultFolds), nil
}

func (r *Request) checkRotation(p Preset) error {
	if r.Rotate == 0 {
		return nil
	}
	if r.From == Paper {
		return &invalid.Error{Field: "preset", Want: "general in a rotation", Got: string(r.From)}
	}
	if p.DevSplit != 1 {
		return invalid.At(p.Origins["dev_split"],
			invalid.Expected("", p.DevSplit, "dev_split 1 in a rotation"))
	}
	if p.ChosenOn != "" { // some of the classes that it was chosen on are unseen here
		return invalid.At(p.Origins[fingerprintKey], invalid.Expected("", "those of a search",
			"settings that no search chose, in a rotation"))
	}
	return nil
}

// Resolve sets Presets, with the paper's settings if the data are published, unless From says otherwise. It
// reads each file once.
func (r *Request) Resolve(ctx context.Context, published bool) (err error) {
	r.published = published
	if r.Methods == nil {
		r.Presets = make([]Preset, 1)
		r.Presets[0], err = r.single(ctx)
	} else {
		r.Presets, err = r.several(ctx)
	}
	for _, p := range r.Presets {
		err = cmp.Or(err, r.checkRotation(p))
	}
	return err
}

func (r *Request) file(ctx context.Context, path string) (list []setting.Assignment, err error) {
	list, known := r.read[path]
	if known || path == "" {
		return list, nil
	}
	if list, err = ReadFile(ctx, path); err != nil {
		return nil, err
	}
	if r.read == nil {
		r.read = map[string][]setting.Assignment{}
	}
	r.read[path] = list
	return list, nil
}

// Configs are the settings of the variants of LAGO among Methods.
func (r *Request) Configs() (list []Config) {
	for _, p := range r.Presets[1:] {
		list = append(list, p.Config)
	}
	return list
}

func assign(key, text string) setting.Assignment { return setting.Assignment{Key: key, Text: text} }

// preset returns the settings of a run: its preset, over it what studies that choose settings
// have as defaults, and over these what is given. Published settings were chosen on validation
// classes, some of which are unseen in a rotation.
func (r *Request) preset(given ...setting.Assignment) (Preset, error) {
	start, list := GeneralFor, []setting.Assignment{}
	if (r.From == Paper || r.From == Auto && r.published) && r.Rotate == 0 {
		start = PresetFor
	}
	if r.searching {
		list = append(list, assign("epochs", searchEpochs), assign("patience", searchPatience))
		if r.Rotate > 0 {
			list = append(list, assign("seeds", rotationSeeds))
		}
	}
	p, err := Resolve(append(list, given...), start)
	if err == nil && r.From == Paper && !p.Paper() && r.Rotate == 0 {
		err = invalid.Expected("preset", p.DataName(), "a data set for which the authors published settings")
	}
	return p, err
}

// single returns the settings of a run from the preset, the config file and the flags. Of Variants,
// semantic-hard or else the first is the default method; without groups it is singletons.
func (r *Request) single(ctx context.Context) (Preset, error) {
	usable, err := r.usable(ctx)
	if err != nil {
		return Preset{}, err
	}
	start := model.SemanticHard
	if r.Ungrouped {
		start = model.Singletons
	}
	if r.Variants != nil && !slices.Contains(r.Variants, start) {
		start = r.Variants[0]
	}
	list := append([]setting.Assignment{assign("method", string(start))}, usable...)
	p, err := r.preset(append(list, r.Assigned...)...)
	if found := p.Method; err == nil && r.Variants != nil && !slices.Contains(r.Variants, found.Variant()) {
		want := format.List(format.Strings(r.Variants), "or")
		err = placed(p.Origins["method"], "method", &invalid.Error{Want: want, Got: found.Label()})
	}
	return p, err
}

// usable returns the settings of the config file without keys that the study decides itself, which are
// Unused: stage, for one without that setting, with the epochs of a test stage.
func (r *Request) usable(ctx context.Context) ([]setting.Assignment, error) {
	list, err := r.file(ctx, r.File)
	if r.Unused = nil; r.stages || err != nil {
		return list, err
	}
	ofTest := slices.ContainsFunc(list, func(a setting.Assignment) bool {
		return a.Key == "stage" && a.Text == string(OnlyTest)
	})
	return slices.DeleteFunc(slices.Clone(list), func(a setting.Assignment) bool {
		unused := a.Key == "stage" || ofTest && a.Key == "epochs"
		if unused {
			r.Unused = append(r.Unused, a.Key)
		}
		return unused
	}), nil
}

// several returns the settings that Methods of any kind have in common, and those of each variant from its
// preset, its file of Folder and the command line.
func (r *Request) several(ctx context.Context) ([]Preset, error) {
	if r.Folder != "" {
		if _, err := os.ReadDir(r.Folder); err != nil {
			return nil, invalid.Folder(r.Folder, "a folder of config files", err)
		}
	}
	common := append(CommonKeys(), methods.CorrectionKeys...)
	ofAll := slices.DeleteFunc(slices.Clone(r.Assigned), func(a setting.Assignment) bool {
		return !slices.Contains(common, a.Key)
	})
	first, err := r.preset(ofAll...)
	presets, anyFile, path := []Preset{first}, false, ""
	for _, v := range model.Variants {
		inLAGO := v.Info().Paper && slices.Contains(*r.Methods, methods.LAGO)
		if err != nil || !inLAGO && !slices.Contains(*r.Methods, string(v)) {
			continue
		}
		var searched []setting.Assignment
		path = SearchFile(r.Folder, first.Dataset, first.DevSplit, string(v))
		if searched, err = r.searched(ctx, path); err != nil {
			return nil, err
		}
		anyFile = anyFile || len(r.read[path]) > 0
		var p Preset
		p, err = r.preset(slices.Concat([]setting.Assignment{assign("method", string(v))}, searched,
			r.Assigned)...)
		if found := p.Method.Variant(); err == nil && (p.DataName() != first.DataName() || found != v) {
			err = invalid.At(searched[0].Where, invalid.Expected("", fmt.Sprintf("those of %s on %s", found,
				p.DataName()), "settings of %s on %s", v, first.DataName()))
		}
		presets = append(presets, p)
	}
	if err == nil && r.Folder != "" && !anyFile && path != "" {
		err = invalid.Expected("configs", "none in it", "a folder with the file of a variant, such as %s",
			path)
	}
	return presets, err
}

// searched reads the file of Folder that a search wrote for a variant, if there is one: without stage,
// epochs and seeds, which the file has for the test stage, and hold_out, which all methods share.
func (r *Request) searched(ctx context.Context, path string) ([]setting.Assignment, error) {
	if r.Folder == "" {
		return nil, nil
	}
	list, err := r.file(ctx, path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(a setting.Assignment) bool {
		return slices.Contains([]string{"stage", "epochs", "seed", "seeds", "hold_out"}, a.Key)
	}), nil
}

func placed(where, key string, err error) error {
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
// that does not apply to the run is an error, unless it repeats that of the start.
func Resolve(list []setting.Assignment, start func(dataset string, m methods.Named) Preset) (Preset, error) {
	first := Defaults(methods.Variant(model.SemanticHard))
	for _, a := range list {
		if a.Key == "dataset" || a.Key == "method" {
			if err := first.Settings().Set(a); err != nil {
				return Preset{}, placed(a.Where, a.Key, err)
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
		case !p.Settings().Has(a.Key) && All().Has(a.Key):
			err = invalid.Expected("", "method "+p.Method.Label(),
				"a variant of LAGO, which has this setting")
		default:
			err = p.Settings().Set(a)
		}
		if err != nil {
			return p, placed(a.Where, a.Key, err)
		}
	}
	for _, a := range list {
		s, err := p.Settings().Find(a.Key)
		if err != nil || !s.Unused {
			continue // the error is that of the fingerprint
		}
		if before, _ := preset.Settings().Find(a.Key); s.Value() == before.Value() {
			continue
		}
		return p, placed(a.Where, a.Key, &invalid.Error{Want: s.For, Got: p.otherwise(s)})
	}
	return p, p.Check()
}

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
