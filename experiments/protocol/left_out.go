package protocol

import "github.com/lago-train/lago-train/model"

// LeftOut is a variant that the data set can't have.
type LeftOut struct {
	Variant model.Variant `json:"variant"`
	Why     string        `json:"why"`
}
