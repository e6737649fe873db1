package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset/simulate"
)

// Missing says that a data set is not there, where it was looked for, and how to
// get it.
type Missing struct {
	Name    string
	DataDir string   // absolute
	Others  []string // folders that are there instead
	Err     error    // why the data dir can't be read, if that is it
}

func (m *Missing) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "data set %q: there is no folder of this name, in any case, in %s", m.Name, m.DataDir)
	switch {
	case errors.Is(m.Err, fs.ErrNotExist):
		b.WriteString(", which does not exist")
	case m.Err != nil:
		fmt.Fprintf(&b, ": %v", m.Err)
	case len(m.Others) > 0:
		fmt.Fprintf(&b, " (there are: %s)", strings.Join(m.others(), ", "))
	default:
		b.WriteString(", which holds no folders")
	}
	if m.published() {
		fmt.Fprintf(&b, "\n\nThis downloads it:  lago-train dataset fetch %s%s", m.dataDirFlag(), m.Name)
	}
	fmt.Fprintf(&b, `

The folder is looked for as <data dir>/<name>. The data dir is --data-dir, else
$%s, else ./%s. It must look like this:

  %s
    res101.mat            features and labels (or the one .mat with both)
    att_splits.mat        class names, descriptions, locations
    trainclasses1.txt     a class a line; 2 and 3 are the other two splits
    valclasses1.txt
    trainvalclasses.txt
    testclasses.txt
    meta/                 or beside the files above
      attribute_names_with_semantic_group.txt
      class_descriptions_by_attributes.txt
      classes.txt

or, without MATLAB's files, like this (docs/your-data.md):

  %s
    features.npy          a row a sample; or features.csv
    labels.csv            class: that of each sample
    classes.csv           class, and a column an attribute: the descriptions
    attributes.csv        name,group
    splits.csv            class,part: train, val or test

CUB, AWA2 and SUN in the first layout are the xlsa17 release of Xian et al., "Zero-Shot
Learning - A Comprehensive Evaluation of the Good, the Bad and the Ugly": its
archive of features with the proposed splits. meta/, with the groups of attributes,
is in the repository of the authors of LAGO, github.com/yuvalatzmon/LAGO. The
command lago-train dataset fetch %s gets both.

Without a download there are: %s, %s.`,
		EnvDataDir, defaultDataDir, filepath.Join(m.DataDir, strings.ToUpper(m.Name)), filepath.Join(m.DataDir, m.Name), strings.Join(published, "|"), Glyphs, strings.Join(simulate.Presets(), ", "))
	return b.String()
}

// published are the names of the data sets that package fetch gets.
var published = []string{"cub", "awa2", "sun"}

func (m *Missing) published() bool { return slices.Contains(published, m.Name) }

// dataDirFlag is the flag that a command needs to mean the same data dir, with a
// space behind it.
func (m *Missing) dataDirFlag() string {
	if dir, err := filepath.Abs(DataDir("")); err == nil && dir == m.DataDir {
		return ""
	}
	return "--data-dir " + m.DataDir + " "
}

func (m *Missing) Unwrap() error { return m.Err }

// others lists the folders that are there, cut where it would hide the rest.
func (m *Missing) others() []string {
	const most = 12
	if len(m.Others) <= most {
		return m.Others
	}
	return append(m.Others[:most:most], fmt.Sprintf("and %d more", len(m.Others)-most))
}
