package catalog

import (
	"cmp"
	"os"
)

// DataDir returns the folder that holds data sets: dir, or where that is empty
// $LAGO_DATA, or where that is empty too ./data.
func DataDir(dir string) string { return cmp.Or(dir, os.Getenv(EnvDataDir), defaultDataDir) }
