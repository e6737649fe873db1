// Package atomicfile is fileio under a former name, for callers that were not moved yet.
package atomicfile

import "github.com/lago-train/lago-train/internal/fileio"

// The functions of fileio.
var (
	Write      = fileio.Write
	WriteJSON  = fileio.WriteJSON
	WriteCSV   = fileio.WriteCSV
	Rename     = fileio.Rename
	SyncFolder = fileio.SyncFolder
)
