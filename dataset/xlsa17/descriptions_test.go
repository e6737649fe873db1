package xlsa17

import (
	"strings"
	"testing"
)

func TestDescriptionsErrors(t *testing.T) {
	testBadFolders(t, []badFolder{
		{"att alone", func(s *small) { s.drop("original_att", metaDesc) }, []string{attFile, "original_att", descriptionFile, "only att, whose columns are L2-normalised and hold no probabilities"}},
		{"no descriptions", func(s *small) { s.drop("original_att", "att", metaDesc) }, []string{"found neither"}},
		{"original_att of other classes", func(s *small) { s.set(doubles("original_att", 3, 5, smallPercent[:15]...)) }, []string{attFile, "original_att: expected numbers for attributes x 6 classes, found double 3x5"}},
		{"original_att beyond percent", func(s *small) {
			s.drop(metaDesc)
			s.set(doubles("original_att", 3, 6, append([]float64{250}, smallPercent[1:]...)...))
		}, []string{attFile, "original_att, class 1, attribute 1", "found a largest value of 250"}},
		{"descriptions beyond percent", func(s *small) { s.texts[metaDesc] = strings.Replace(s.texts[metaDesc], "80", "101", 1) }, []string{descriptionFile, "row 2, attribute 2", "found a largest value of 101"}},
		{"fractions with a mistake", func(s *small) {
			s.texts[metaDesc] = "1 0 .5\n.2 .8 0\n0 1 .1\n.9 .05 .6\n.25 1.05 .33\n.7 .3 .12\n"
		}, []string{descriptionFile, "row 5, attribute 2: expected probabilities up to 1, or percentages with a largest value from 2 to 100, found a largest value of 1.05"}},
		{"infinite descriptions", func(s *small) { s.texts[metaDesc] = strings.Replace(s.texts[metaDesc], "80", "inf", 1) }, []string{descriptionFile, "row 2, attribute 2", "+Inf"}},
		{"descriptions that contradict", func(s *small) { s.texts[metaDesc] = strings.Replace(s.texts[metaDesc], "20 80", "80 20", 1) }, []string{descriptionFile, `class "002.Blue_bird", attribute 1: expected about 0.2`, "found 0.8"}},
		{"descriptions of fewer attributes", func(s *small) {
			s.texts[metaDesc] = "1 0\n.2 .8\n0 1\n.9 .05\n.25 .75\n.7 .3\n"
			s.texts[metaAtt] = "big\nsmall\n"
		}, []string{descriptionFile, "expected 3 attributes", "found 2"}},
		{"a line of descriptions cut short", func(s *small) { s.texts[metaDesc] = strings.Replace(s.texts[metaDesc], " 33", "", 1) }, []string{descriptionFile, "line 5: expected 3 numbers", "found 2"}},
		{"descriptions with a word", func(s *small) { s.texts[metaDesc] = strings.Replace(s.texts[metaDesc], "33", "many", 1) }, []string{descriptionFile, `line 5, number 3: expected a number, found "many"`}},
		{"an empty file of descriptions", func(s *small) { s.texts[metaDesc] = "\n" }, []string{descriptionFile, "at least one line"}},
		{"original_att that is text", func(s *small) { s.set(cells("original_att", "a", "b")) }, []string{attFile, "original_att: expected numbers for attributes x 6 classes, found cell"}},
		{"a line of descriptions too long", func(s *small) { s.texts[metaDesc] = strings.Replace(s.texts[metaDesc], "33", "33 4", 1) }, []string{descriptionFile, "line 5: expected 3 numbers", "found 4"}},
		{"descriptions of more attributes", func(s *small) {
			s.texts[metaDesc] = strings.ReplaceAll(s.texts[metaDesc], "\n", " 1\n")
		}, []string{descriptionFile, "expected 3 attributes, as in original_att of", "found 4"}},
	})
}

func TestClassOrderErrors(t *testing.T) {
	testBadFolders(t, []badFolder{
		{"more lines than classes.txt has", func(s *small) { s.texts[metaDesc] += "1 2 3\n" }, []string{descriptionFile, "expected 6 lines, one for each class of", "found 7"}},
		{"more lines than classes, without classes.txt", func(s *small) { s.drop(metaClass); s.texts[metaDesc] += "1 2 3\n" }, []string{descriptionFile, "expected 6 lines", "as there is no classes.txt", "found 7"}},
		{"a class that classes.txt misses", func(s *small) { s.texts[metaClass] = strings.Replace(s.texts[metaClass], "Duck", "Dodo", 1) }, []string{metaClass, `no line for "005.Duck", which is none of them`}},
		{"two lines for a class", func(s *small) {
			s.texts[metaClass] = "red bird\nRed+Bird\n003.Old_owl\n004.Young_owl\n005.Duck\n006.Swan\n"
		}, []string{metaClass, `"001.Red_bird", which may mean "red bird" or "Red+Bird"`}},
		{"two classes for a line", func(s *small) {
			s.set(cells("allclasses_names", "001.Red_bird", "002.Red_bird", "003.Old_owl", "004.Young_owl", "005.Duck", "006.Swan"))
			s.texts[metaClass] = strings.Replace(strings.Replace(s.texts[metaClass], "001.Red_bird", "red bird", 1), "002.Blue", "002.Green", 1)
		}, []string{metaClass, "line 1", `"red bird", which may mean "001.Red_bird" or "002.Red_bird"`}},
		{"fewer lines than classes.txt has", func(s *small) { s.texts[metaDesc] = "1 0 .5\n" }, []string{descriptionFile, "expected 6 lines", "found 1"}},
		{"lines in the order of the .mat, and classes.txt in another", func(s *small) {
			s.texts[metaClass] = "1 006.Swan\n2 002.Blue_bird\n3 003.Old_owl\n4 004.Young_owl\n5 005.Duck\n6 001.Red_bird\n"
		}, []string{descriptionFile, `class "001.Red_bird"`, "found 0.7"}},
		{"lines in another order, without classes.txt", func(s *small) {
			s.drop(metaClass)
			s.texts[metaDesc] = "70 30 12\n20 80 0\n0 100 10\n90 5 60\n25 75 33\n100 0 50\n"
		}, []string{descriptionFile, `class "001.Red_bird"`, "expected about 1, as in original_att", "found 0.7"}},
		{"nothing to tell the order by", func(s *small) { s.drop(metaClass, "original_att") }, []string{
			metaClass + ": expected the classes in the order of " + descriptionFile, "no such file, and no original_att in", attFile,
		}},
		{"numbers in classes.txt out of order", func(s *small) {
			s.texts[metaClass] = "2 002.Blue_bird\n1 001.Red_bird\n3 003.Old_owl\n4 004.Young_owl\n5 005.Duck\n6 006.Swan\n"
		}, []string{metaClass, "line 2: expected a number above 2", "found 1"}},
	})
}
