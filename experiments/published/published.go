// Package published has the numbers that the LAGO paper and its authors' released program
// report: test accuracy, the ablation, the analysis of the groups, and the settings and
// per-seed scores of each released run. This program computed none of them.
package published

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/model"
)

//go:embed published.json
var file []byte

// Run is one released run of the authors: its settings, and the per-class accuracy of each
// seed in percent.
type Run struct {
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

// Ablation is one row of table A.2: validation accuracy in percent.
type Ablation struct {
	Prior       model.Prior      `json:"prior"`
	Complement  model.Complement `json:"complement_given_x"`
	Supervision string           `json:"attribute_supervision"` // implicit or explicit
	CUB         float64          `json:"CUB"`
	AWA2        float64          `json:"AWA2"`
}

// On returns the accuracy on a data set in percent, if the paper reports it.
func (a Ablation) On(dataset string) (percent float64, ok bool) {
	switch strings.ToLower(dataset) {
	case "cub":
		return a.CUB, true
	case "awa2":
		return a.AWA2, true
	}
	return 0, false
}

// Groups is the paper's analysis of the groups that k-soft learned, in percent, by data set.
type Groups struct {
	NonZero               map[string]float64 `json:"nonzero_percent"`
	GroupedAnticorrelated map[string]float64 `json:"grouped_pairs_anticorrelated_percent"`
	AllAnticorrelated     map[string]float64 `json:"all_pairs_anticorrelated_percent"`
	K                     map[string]int     `json:"K"`
}

// Tables are all published numbers.
var Tables struct {
	TestTable   map[string][]json.RawMessage `json:"test_accuracy_table"` // a name, then a cell for each column
	Ablation    []Ablation                   `json:"ablation_validation_accuracy"`
	Groups      Groups                       `json:"gamma_analysis"`
	Runs        []Run                        `json:"released_runs"`
	SearchSpace struct{ K []int }            `json:"search_space"`
}

func init() {
	if err := json.Unmarshal(file, &Tables); err != nil {
		panic("published.json: " + err.Error()) // it is embedded
	}
}

// Find returns the released run of the test stage of a variant on a data set.
func Find(dataset string, v model.Variant) (Run, bool) {
	name := strings.ReplaceAll(strings.TrimPrefix(v.Info().Title, "LAGO"), "-", "")
	for _, r := range Tables.Runs {
		if strings.EqualFold(r.Dataset, dataset) && r.Model == name && r.Stage == "test" {
			return r, true
		}
	}
	return Run{}, false
}

// TestAccuracy returns a cell of table A.1 as printed, in percent. method is a baseline's
// title or the name of a row, such as "ESZSL".
func TestAccuracy(dataset, method string) (cell string, ok bool) {
	column := slices.IndexFunc(Tables.TestTable["columns"], func(c json.RawMessage) bool {
		return strings.EqualFold(text(c), dataset)
	})
	row := Tables.TestTable[cmp.Or(rows[method], method)]
	if column < 0 || row == nil {
		return "", false
	}
	return text(row[column]), true
}

// rows has the rows of table A.1 that differ from the baseline's title.
var rows = map[string]string{"SynC": "SYNC", "DeViSE": "DEVISE", "Kernel alignment": "ZHANG2018"}

// ResultRow is the row of table A.1 for LAGO with the variant chosen on validation.
const ResultRow = "LAGO (variant chosen on validation)"

// KsUpTo returns the numbers of groups that the authors tried and that so many
// attributes can form.
func KsUpTo(attributes int) []int {
	return slices.DeleteFunc(slices.Clone(Tables.SearchSpace.K), func(k int) bool { return k > attributes })
}

func text(cell json.RawMessage) string { return strings.Trim(string(cell), `"`) }
