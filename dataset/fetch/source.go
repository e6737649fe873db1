package fetch

import (
	"fmt"
	"strings"
)

// The addresses that the archives were published at.
const (
	// XianURL is the release of Xian et al., "Zero-Shot Learning - A Comprehensive
	// Evaluation of the Good, the Bad and the Ugly": about 880 MB for the five data
	// sets of their paper, a folder each below xlsa17/data.
	XianURL = "https://datasets.d2.mpi-inf.mpg.de/xian/xlsa17.zip"
	// MetaURL is the repository of the authors of LAGO (github.com/yuvalatzmon/LAGO),
	// as of the commit that added data/NAME/meta.
	MetaURL = "https://github.com/yuvalatzmon/LAGO/archive/c389ff106a84d5fafc7828a097c49da45ac8d275.zip"
	// LAGOURL is what the authors of LAGO tell their readers to download: about
	// 500 MB with everything of the three data sets. It can take the place of XianURL.
	LAGOURL = "http://chechiklab.biu.ac.il/~yuvval/LAGO/LAGO_data.zip"
)

// source is a data set that can be fetched.
type source struct {
	folder string // in the archives, and of the user
	// classes says that the descriptions have a list of whose line is whose. Those of
	// SUN are in the order of the release.
	classes bool
}

var sources = []source{{"CUB", true}, {"AWA2", true}, {"SUN", false}}

// Names are those of the data sets that can be fetched, in lower case.
func Names() []string {
	var names []string
	for _, s := range sources {
		names = append(names, s.name())
	}
	return names
}

func (s source) name() string { return strings.ToLower(s.folder) }

// sourceOf finds a data set by its name in any case.
func sourceOf(name string) (source, error) {
	for _, s := range sources {
		if strings.EqualFold(s.folder, name) {
			return s, nil
		}
	}
	return source{}, fmt.Errorf("data set %q can't be fetched: expected one of %s", name, strings.Join(Names(), ", "))
}
