package main

import (
	"bytes"
	"flag"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/experiments/studies"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model/network/networktest"
)

// photographs draws eight glyphs of each class as PNG files in a folder for the class, and returns it with the
// descriptions of the classes.
func photographs(t *testing.T) (photos, descriptions string) {
	t.Helper()
	d := glyphs.Make()
	photos, descriptions = filepath.Join(t.TempDir(), "photos"), filepath.Join(t.TempDir(), "glyphs")
	testkit.NoError(t, tiny.Write(descriptions, d))
	for z, class := range d.Classes {
		for i, row := range d.SamplesOf([]int{z})[:8] {
			var b bytes.Buffer
			testkit.NoError(t, png.Encode(&b, glyphs.Image(row)))
			testkit.Write(t, photos, filepath.Join(class, fmt.Sprintf("%d.png", i)), b.String())
		}
	}
	return photos, descriptions
}

// From a folder of photographs to a prediction of a new class, and its explanation.
func TestFromPhotographsToClasses(t *testing.T) {
	photos, descriptions := photographs(t)
	data := t.TempDir()
	weights := filepath.Join(data, "resnet18.safetensors")
	testkit.NoError(t, networktest.WriteResNet18(weights))
	// T and its photographs are not in the data set.
	const unknown = "T"
	newClass := filepath.Join(data, "new")
	testkit.NoError(t, os.Rename(filepath.Join(photos, unknown), newClass))
	network := []string{"--weights", weights, "--fit", "squash", "--size", "48"}
	extract := append([]string{"dataset", "extract", "--data-dir", data, "letters", "--images", photos}, network...)
	extracted := printed[struct{ Samples, Classes, Dimensions int }](t, append(extract, "--json")...)
	if extracted.Samples != 8*extracted.Classes || extracted.Classes < 30 || extracted.Dimensions != 512 {
		t.Errorf("%+v", extracted)
	}

	header, classes, _ := strings.Cut(testkit.Read(t, filepath.Join(descriptions, "classes.csv")), "\n")
	var others strings.Builder
	described := ""
	for line := range strings.Lines(classes) {
		if strings.HasPrefix(line, unknown+",") {
			described = line
			continue
		}
		others.WriteString(line)
	}
	folder := filepath.Join(data, "letters")
	testkit.Write(t, folder, "classes.csv", header+"\n"+others.String())
	testkit.Write(t, folder, "attributes.csv", testkit.Read(t, filepath.Join(descriptions, "attributes.csv")))
	at := []string{"--data-dir", data}
	succeeds(t, append([]string{"dataset", "split", "--to", filepath.Join(folder, "splits.csv"), "letters"}, at...)...)
	testkit.WantText(t, succeeds(t, append([]string{"dataset", "check", "letters"}, at...)...), "letters: no errors")
	runs := filepath.Join(data, "runs")
	o := printed[studies.MethodAccuracy](t, append([]string{"run", "--dataset", "letters", "--preprocess", "standardize", "--epochs", "12", "--seeds", "1", "--json", "--out", runs}, at...)...)
	if mean := o.Test.PerClass.Mean; mean < 2*o.Test.Chance() {
		t.Errorf("accuracy %.3f on %d unseen classes", mean, o.Test.Classes)
	}

	// The new class, by its description among the test classes.
	model := filepath.Join(runs, "latest")
	table := testkit.Write(t, data, "new.csv", header+"\n"+described)
	chosen := []string{"--model", model, "--candidates", "test," + table, "--weights", weights}
	out := succeeds(t, append(append([]string{"predict", "--format", "csv", "--top", "99"}, chosen...), "--images", newClass)...)
	var mean float64 // probability of the new class
	rows := records(t, out)
	for _, row := range rows {
		if !strings.HasSuffix(row["id"], ".png") {
			t.Fatalf("%v", row)
		}
		for rank := range o.Test.Classes + 1 {
			if row[fmt.Sprintf("class_%d", rank+1)] == unknown {
				mean += testkit.Must(strconv.ParseFloat(row[fmt.Sprintf("probability_%d", rank+1)], 64))(t) / 8
			}
		}
	}
	if n := len(rows); n != 8 || mean < 1.5/float64(o.Test.Classes+1) {
		t.Errorf("%d photographs of the new class, of mean probability %.3f", n, mean)
	}
	broken := testkit.Write(t, newClass, "broken.png", "no image")
	predict := append([]string{"predict"}, chosen...)
	fails(t, append(predict, "--images", newClass), "broken.png", "--skip-broken leaves such photographs out.")
	predict = append(predict, "--skip-broken", "--format", "csv", "--images")
	testkit.Equal(t, "without the broken photograph", len(records(t, succeeds(t, append(predict, newClass)...))), 8)
	misused(t, append(predict, broken), "at least one photograph that can be decoded")
	image := filepath.Join(newClass, "3.png")
	page := succeeds(t, append(append([]string{"explain", "--format", "html"}, chosen...), "--image", image)...)
	testkit.WantText(t, page, `<img src="data:image/jpeg;base64,`, "<h1>Photograph 3.png is predicted as")

	// Photographs that were moved leave the page without pictures, which one warning counts.
	testkit.NoError(t, os.Rename(photos, photos+" away"))
	e := lagoTrain(t, append([]string{"predict", "--model", model, "--dataset", "letters", "--to", filepath.Join(data, "sheet.html")}, at...)...)
	if e.code != 0 || strings.Count(e.stderr, "without a picture") != 1 {
		t.Errorf("ended with %d and %s", e.code, e.stderr)
	}

	// Other features than those of the model are refused.
	testkit.NoError(t, networktest.WriteTransformer(weights, "clip-tiny"))
	misused(t, append(append([]string{"predict"}, chosen...), "--images", image), "--weights: expected resnet18 with SHA-256")
}

// The class of a photograph is the nearest folder above it that is a class; sites and months are none.
func TestClassesOfFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range strings.Fields("a.png site/b.png site/owl/may/c.png owl/wren/d.png emu/e.png") {
		testkit.Write(t, dir, name, "")
	}
	o := predictOptions{images: []string{dir}}
	testkit.NoError(t, o.listPhotographs(cli.NewContext(nil, &flag.FlagSet{}, nil), []string{"owl", "wren"}))
	o.keepClasses([]string{"owl", "wren", "emu"}) // which a file describes
	found := map[string]string{}
	for _, m := range o.photographs {
		found[m.ID] = m.Class
	}
	testkit.Equal(t, "classes", found, map[string]string{
		"a.png": "", "site/b.png": "", "site/owl/may/c.png": "owl", "owl/wren/d.png": "wren", "emu/e.png": "emu",
	})
}
