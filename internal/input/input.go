// Package input is fileio under a former name, for callers that were not moved yet.
package input

import "github.com/lago-train/lago-train/internal/fileio"

// The types of fileio.
type (
	File   = fileio.File
	Member = fileio.Member
)

// The functions of fileio.
var (
	Open          = fileio.Open
	OpenRegular   = fileio.OpenRegular
	SizeOfRegular = fileio.SizeOfRegular
	ReadRegular   = fileio.ReadRegular
	Stdin         = fileio.Stdin
	ReadFile      = fileio.ReadFile
	ParseObject   = fileio.ParseObject
)
