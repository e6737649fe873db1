package fetch

import (
	"path"
	"slices"
	"strings"
)

// Files of a data set's folder, as package xlsa17 says. In the LAGO data archive
// the files of the release are in a folder xian2017 of their own.
const (
	metaFolder = "meta"
	xianFolder = "xian2017"
)

var (
	releaseFiles  = []string{"res101.mat", "att_splits.mat", "trainclasses1.txt", "valclasses1.txt", "trainvalclasses.txt", "testclasses.txt"}
	optionalFiles = []string{"allclasses.txt", "trainclasses2.txt", "valclasses2.txt", "trainclasses3.txt", "valclasses3.txt"}
	metaFiles     = []string{"attribute_names_with_semantic_group.txt", "class_descriptions_by_attributes.txt"}
)

const classesFile = "classes.txt"

// needed are the files without which the folder isn't of use, as paths below it.
func (s source) needed() []string { return append(slices.Clone(releaseFiles), s.meta()...) }

// meta are those that the release doesn't have.
func (s source) meta() []string {
	var files []string
	for _, f := range metaFiles {
		files = append(files, path.Join(metaFolder, f))
	}
	if s.classes {
		files = append(files, path.Join(metaFolder, classesFile))
	}
	return files
}

// fileOf returns the path below the folder of the data set that an entry of an
// archive has its place at. An archive may have the folder NAME anywhere, with
// backslashes even, which package unpack then complains of.
func (s source) fileOf(entry string) (file string, ok bool) {
	elements := strings.Split(strings.ReplaceAll(entry, `\`, "/"), "/")
	base := len(elements) - 1
	for folder := base - 1; folder >= 0 && folder >= base-2; folder-- {
		if !strings.EqualFold(elements[folder], s.folder) {
			continue
		}
		file = path.Join(elements[folder+1:]...)
		file, inXian := strings.CutPrefix(file, xianFolder+"/")
		release := slices.Contains(releaseFiles, file) || slices.Contains(optionalFiles, file)
		return file, release || (!inXian && slices.Contains(s.meta(), file))
	}
	return "", false
}
