package config

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

//go:embed published.json
var publishedJSON []byte

// PublishedRun is one released run of the authors: its settings, and the per-class accuracy of each seed in
// percent.
type PublishedRun struct {
	Stage    string    `json:"stage"`   // dev or test
	Dataset  string    `json:"dataset"` // CUB, AWA2 or SUN
	Model    string    `json:"model"`
	Accuracy []float64 `json:"accuracy"`
	Epochs   int       `json:"epochs"`

	LearningRate  float64 `json:"learning_rate"`
	LearningRateV float64 `json:"learning_rate_V"` // 0 for the hard variants
	Beta          float64 `json:"beta"`
	Lambda        float64 `json:"lambda_"`
	Alpha         float64 `json:"alpha"`
	Psi           float64 `json:"psi"`
	Zeta          float64 `json:"zeta"`
	Batch         int     `json:"batch"`
	K             int     `json:"K"` // 0 except for k-soft
}

// PublishedAblation is one row of table A.2: validation accuracy in percent.
type PublishedAblation struct {
	Prior       model.Prior      `json:"prior"`
	Complement  model.Complement `json:"complement_given_x"`
	Supervision string           `json:"attribute_supervision"` // implicit or explicit
	CUB         float64          `json:"CUB"`
	AWA2        float64          `json:"AWA2"`
}

// On returns the accuracy on a data set in percent, if the paper reports it.
func (a PublishedAblation) On(dataset string) (percent float64, ok bool) {
	switch strings.ToLower(dataset) {
	case "cub":
		return a.CUB, true
	case "awa2":
		return a.AWA2, true
	}
	return 0, false
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
	// a name, then a cell for each column
	TestTable   map[string][]json.RawMessage `json:"test_accuracy_table"`
	Ablation    []PublishedAblation          `json:"ablation_validation_accuracy"`
	Groups      PublishedGroups              `json:"gamma_analysis"`
	Runs        []PublishedRun               `json:"released_runs"`
	SearchSpace struct{ K []int }            `json:"search_space"`
}

func init() {
	if err := json.Unmarshal(publishedJSON, &Published); err != nil {
		panic("published.json: " + err.Error()) // it is embedded
	}
}

// publishedRun returns the released run of the test stage of a variant on a data set.
func publishedRun(dataset string, v model.Variant) (PublishedRun, bool) {
	name := strings.ReplaceAll(strings.TrimPrefix(publishedRows[string(v)], "LAGO"), "-", "")
	for _, r := range Published.Runs {
		if strings.EqualFold(r.Dataset, dataset) && r.Model == name && r.Stage == "test" {
			return r, true
		}
	}
	return PublishedRun{}, false
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

// PublishedAccuracy returns a cell of table A.1 for a data set that the numbers are of, otherwise "".
func PublishedAccuracy(d *dataset.Dataset, method string) string {
	if !IsPublished(d) {
		return ""
	}
	return publishedCell(d.Name, method)
}

// publishedCell returns a cell of table A.1 as printed, in percent, "" if there is none. method is a
// variant, a baseline's title or the name of a row, such as "ESZSL".
func publishedCell(dataset, method string) string {
	column := slices.IndexFunc(Published.TestTable["columns"], func(c json.RawMessage) bool {
		return strings.EqualFold(cellText(c), dataset)
	})
	row := Published.TestTable[cmp.Or(publishedRows[method], method)]
	if column < 0 || row == nil {
		return ""
	}
	return cellText(row[column])
}

// publishedRows has the rows of table A.1 that differ from the variant or the baseline's title.
var publishedRows = map[string]string{
	"singletons": "LAGO-Singletons", "semantic-hard": "LAGO-Semantic-Hard", "k-soft": "LAGO-K-Soft",
	"semantic-soft": "LAGO-Semantic-Soft", "SynC": "SYNC", "DeViSE": "DEVISE",
	"Kernel alignment": "ZHANG2018",
}

// PublishedResult is the row of table A.1 for LAGO with the variant chosen on validation.
const PublishedResult = "LAGO (variant chosen on validation)"

func cellText(cell json.RawMessage) string { return strings.Trim(string(cell), `"`) }
