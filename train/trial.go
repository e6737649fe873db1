package train

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/condition"
)

// Stage says which classes are learned from and which are judged.
type Stage string

// The two stages of the paper's protocol.
const (
	Dev  Stage = "dev"  // learns from the train classes, is stopped by the val classes
	Test Stage = "test" // learns from train and val classes, is judged once on the test classes
)

// Trial is one configuration and seed: all that defines the numbers of a run. Two
// equal trials are the same run.
type Trial struct {
	Dataset     string         `json:"dataset"`
	Fingerprint string         `json:"fingerprint"` // of the data set
	Stage       Stage          `json:"stage"`
	Model       model.Config   `json:"model"`
	Condition   condition.Kind `json:"condition"`
	Ridge       float64        `json:"ridge"` // of whiten
	Training    Settings       `json:"training"`
}

// Name is that of the trial's folder: what a person looks for, and a digest of all
// the rest.
func (t Trial) Name() string {
	data, err := json.Marshal(t)
	if err != nil {
		panic("train: a trial does not marshal: " + err.Error()) // only of numbers that Config.Check refuses
	}
	digest := sha256.Sum256(data)
	dataset := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\: `, r) {
			return '_'
		}
		return r
	}, t.Dataset)
	return fmt.Sprintf("%s-%s-%s-seed%d-%s", dataset, t.Model.Variant, t.Stage, t.Training.Seed, hex.EncodeToString(digest[:6]))
}
