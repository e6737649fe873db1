package config

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// Start is what settings start from.
type Start string

// The starts. Auto is Paper on the data of the paper, otherwise General.
const (
	Auto    Start = "auto"
	Paper   Start = "paper"
	General Start = "general"
)

//go:embed published.json
var publishedJSON []byte

// PublishedRun is one released run of the authors on the test classes.
type PublishedRun struct {
	Dataset  string         `json:"dataset"` // CUB, AWA2 or SUN
	Variant  model.Variant  `json:"variant"`
	Accuracy []float64      `json:"accuracy"` // per class, of each seed, in percent
	Epochs   int            `json:"epochs"`
	Settings map[string]any `json:"settings"` // 0 for those that the variant does not have
}

// PublishedAblation is one row of table A.2: validation accuracy in percent, by data set.
type PublishedAblation struct {
	Prior       model.Prior        `json:"prior"`
	Complement  model.Complement   `json:"complement"`
	Supervision string             `json:"supervision"` // implicit or explicit
	Accuracy    map[string]float64 `json:"accuracy"`
}

// PublishedGroups is the paper's analysis of the groups that k-soft learned, in percent, by data set.
type PublishedGroups struct {
	NonZero               map[string]float64 `json:"nonzero_percent"`
	GroupedAnticorrelated map[string]float64 `json:"grouped_pairs_anticorrelated_percent"`
	AllAnticorrelated     map[string]float64 `json:"all_pairs_anticorrelated_percent"`
	K                     map[string]int     `json:"K"`
}

// Published are the numbers that the LAGO paper and its authors' released program report: test accuracy,
// the ablation, the analysis of the groups, and the settings and per-seed scores of each released run. This
// program computed none of them.
var Published struct {
	// table A.1 as printed, by the title of a method and the data set
	TestAccuracy map[string]map[string]string `json:"test_accuracy"`
	Ablation     []PublishedAblation          `json:"ablation_validation_accuracy"`
	Groups       PublishedGroups              `json:"gamma_analysis"`
	Ks           []int                        `json:"numbers_of_groups"` // that the authors tried
	Runs         []PublishedRun               `json:"released_runs"`
}

func init() {
	if err := json.Unmarshal(publishedJSON, &Published); err != nil {
		panic("published.json: " + err.Error()) // it is embedded
	}
}

// PublishedDigests are those of the data sets whose features and split the numbers are of, and of cub127,
// which has the features of the same network, by name.
var PublishedDigests = map[string]string{
	"cub": "95180a7df60017cb", "awa2": "ec4e5bc353bb37a3", "sun": "f95fc502d6e5bc86",
	"cub127": "b771472708f9ef63",
}

// PublishedDigest is a digest of the sizes, the classes and the split of a data set.
func PublishedDigest(d *dataset.Dataset) string {
	data := fmt.Append(nil, d.Features.Rows, d.Features.Cols, len(d.Attributes),
		strings.Join(d.Classes, "\n"), d.Split.Seen(), d.Split.Test, d.TestSeen)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// IsPublished reports whether published settings and numbers are of a data set: not by its name alone, since
// other features, or another split, have other settings and other accuracies.
func IsPublished(d *dataset.Dataset) bool {
	return PublishedDigests[strings.ToLower(d.Name)] == PublishedDigest(d)
}

// PublishedResult is the title of LAGO with the variant chosen on validation, in table A.1.
const PublishedResult = "LAGO (variant chosen on validation)"

// PublishedAccuracy returns a cell of table A.1 for a data set that the numbers are of, otherwise "".
func PublishedAccuracy(d *dataset.Dataset, title string) string {
	if !IsPublished(d) {
		return ""
	}
	return Published.TestAccuracy[title][strings.ToUpper(d.Name)]
}

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

// GeneralFor returns the general defaults of a method for a data set, whether or not its
// settings were published.
func GeneralFor(dataset string, m methods.Named) Preset {
	p := Preset{Config: Defaults(m), Source: FromDefaults, Origins: map[string]string{}}
	p.Dataset = catalog.Canonical(dataset)
	return p
}

// PresetFor returns the settings that a run of a method on a data set starts from: those
// that the authors of the paper published, otherwise the general defaults. CUB127 takes those of CUB.
func PresetFor(dataset string, m methods.Named) Preset {
	p := GeneralFor(dataset, m)
	name := strings.ToUpper(p.DataName())
	released := name
	if name == "CUB127" {
		released = "CUB"
	}
	i := slices.IndexFunc(Published.Runs, func(r PublishedRun) bool {
		return r.Dataset == released && r.Variant == m.Variant()
	})
	if i < 0 {
		return p
	}
	r := Published.Runs[i]
	set := func(key string, value any) {
		p.find(key).Set(value)
		p.Origins[key] = FromPreset
	}
	for key, value := range r.Settings {
		set(key, value)
	}
	set("preprocess", preprocess.None)
	set("correction", model.NoCorrection)
	set("freeze_prior", false)
	set("smoothing", 0)
	p.paperEpochs = r.Epochs
	p.Source = fmt.Sprintf("the authors' settings for %s on %s", m.Variant(), r.Dataset)
	if released == name {
		for _, percent := range r.Accuracy {
			p.Expect = append(p.Expect, percent/100)
		}
	}
	return p
}

type grouped interface {
	Grouping(attributes int, semantic []int) (k int, of []int, err error)
}

// CheckOn returns an *invalid.Error for the first setting that no run on the data can have, so that
// none is started.
func (p Preset) CheckOn(d *dataset.Dataset) (err error) {
	c := p.On(d)
	// without groups, plans leave out the variants that need them
	if m, ok := c.Method.Method.(grouped); ok && (d.Groups != nil || !c.Method.Variant().Semantic()) {
		_, _, err = m.Grouping(len(d.Attributes), d.GroupOf())
	}
	if err == nil && c.HoldOut {
		err = train.CheckHeldOut(d, "hold_out")
	}
	e := (*invalid.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	where := p.Origins[e.Field]
	if where == FromPreset {
		where = ""
	}
	return placed(where, e.Field, e)
}
