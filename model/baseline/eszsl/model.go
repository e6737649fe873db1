package eszsl

import "github.com/lago-train/lago-train/model/baseline/bilinear"

// Model is a fitted ESZSL: its W, and whether it takes descriptions of length 1.
type Model = bilinear.Model
