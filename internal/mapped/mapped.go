// Package mapped is fileio under a former name, for callers that were not moved yet.
package mapped

import "github.com/lago-train/lago-train/internal/fileio"

// Large is fileio.Large.
const Large = fileio.Large

// The functions of fileio.
var (
	Move = fileio.Move
	Drop = fileio.Drop
)
