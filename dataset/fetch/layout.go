package fetch

import (
	"path"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

// The addresses that the archives were published at.
const (
	// XianURL is the release of Xian et al., "Zero-Shot Learning - A Comprehensive
	// Evaluation of the Good, the Bad and the Ugly": about 880 MB for the five data
	// sets of their paper, one folder each below xlsa17/data.
	XianURL = "https://datasets.d2.mpi-inf.mpg.de/xian/xlsa17.zip"
	// MetaURL is the repository of the authors of LAGO (github.com/yuvalatzmon/LAGO),
	// as of the commit that added data/NAME/meta.
	MetaURL = "https://github.com/yuvalatzmon/LAGO/archive/c389ff106a84d5fafc7828a097c49da45ac8d275.zip"
	// LAGOURL is the data archive of the authors of LAGO: about 500 MB with all files of
	// the three data sets. It can replace XianURL.
	LAGOURL = "http://chechiklab.biu.ac.il/~yuvval/LAGO/LAGO_data.zip"
)

// source is a data set that can be fetched.
type source struct {
	folder string // in the archives, and below the data dir
	// listsClasses reports whether the meta folder lists the classes. The descriptions
	// of SUN are in the order of the release instead.
	listsClasses bool
}

var sources = []source{{"CUB", true}, {"AWA2", true}, {"SUN", false}}

// Names returns the data sets that can be fetched, in lower case.
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
	return source{}, &invalid.Error{
		Where: "data set " + invalid.Quote(name), Want: "one of " + strings.Join(slices.Concat(Names(), Networks()), ", "),
		Hint: invalid.DidYouMean(name, slices.Concat(Names(), Networks())),
	}
}

// The files of a data set's folder, as package xlsa17 reads them. In the LAGO data
// archive the files of the release are in a folder xian2017.
const (
	metaFolder = "meta"
	xianFolder = "xian2017"
)

var (
	releaseFiles  = []string{"res101.mat", "att_splits.mat", "trainclasses1.txt", "valclasses1.txt", "trainvalclasses.txt", "testclasses.txt"}
	optionalFiles = []string{"allclasses.txt", "trainclasses2.txt", "valclasses2.txt", "trainclasses3.txt", "valclasses3.txt"}
	metaFiles     = []string{"attribute_names_with_semantic_group.txt", "class_descriptions_by_attributes.txt", "classes.txt"}
)

// meta returns the required files that the release lacks, as paths below the folder.
func (s source) meta() []string {
	names := metaFiles
	if !s.listsClasses {
		names = names[:len(names)-1]
	}
	var files []string
	for _, name := range names {
		files = append(files, path.Join(metaFolder, name))
	}
	return files
}

// fileOf returns the path below the folder of the data set at which an entry of an
// archive belongs, and whether it does. It is always one of the paths of the layout.
func (s source) fileOf(entry string) (file string, ok bool) {
	elements := strings.Split(entry, "/")
	base := len(elements) - 1
	for folder := base - 1; folder >= 0 && folder >= base-2; folder-- {
		if !strings.EqualFold(elements[folder], s.folder) {
			continue
		}
		file = strings.Join(elements[folder+1:], "/")
		file, inXian := strings.CutPrefix(file, xianFolder+"/")
		release := slices.Contains(releaseFiles, file) || slices.Contains(optionalFiles, file)
		return file, release || (!inXian && slices.Contains(s.meta(), file))
	}
	return "", false
}
