package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model/resnet/resnettest"
)

// photographs draws glyphs as PNG files in a folder for each class, and returns it with the
// descriptions of the classes.
func photographs(t *testing.T, samples int) (photos, descriptions string) {
	t.Helper()
	d := glyphs.Make()
	photos, descriptions = filepath.Join(t.TempDir(), "photos"), filepath.Join(t.TempDir(), "glyphs")
	if err := openlayout.Write(descriptions, d); err != nil {
		t.Fatal(err)
	}
	for _, class := range d.Classes {
		for i := range samples {
			m, err := glyphs.Image(class, i)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			path := filepath.Join(photos, class, fmt.Sprintf("%d.png", i))
			if err := errors.Join(png.Encode(&b, m), os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, b.Bytes(), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return photos, descriptions
}

// From a folder of photographs to a prediction of a new class, and its explanation.
func TestFromPhotographsToClasses(t *testing.T) {
	photos, descriptions := photographs(t, 8)
	data := t.TempDir()
	weights := filepath.Join(data, "resnet18.safetensors")
	if err := resnettest.WriteResNet18(weights); err != nil {
		t.Fatal(err)
	}
	// T and its photographs are not in the data set.
	const unknown = "T"
	newClass := filepath.Join(data, "new")
	if err := os.Rename(filepath.Join(photos, unknown), newClass); err != nil {
		t.Fatal(err)
	}
	network := []string{"--weights", weights, "--fit", "squash", "--size", "48"}
	extract := append([]string{"dataset", "extract", "--data-dir", data, "letters", "--images", photos}, network...)
	var extracted struct {
		Samples, Classes, Dimensions int
	}
	decode(t, succeeds(t, append(extract, "--json")...), &extracted)
	if extracted.Samples != 8*extracted.Classes || extracted.Classes < 30 || extracted.Dimensions != 512 {
		t.Errorf("%+v", extracted)
	}

	header, classes, _ := strings.Cut(read(t, filepath.Join(descriptions, "classes.csv")), "\n")
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
	writeText(t, filepath.Join(folder, "classes.csv"), header+"\n"+others.String())
	writeText(t, filepath.Join(folder, "attributes.csv"), read(t, filepath.Join(descriptions, "attributes.csv")))
	at := []string{"--data-dir", data}
	succeeds(t, append([]string{"dataset", "split", "--out", filepath.Join(folder, "splits.csv"), "letters"}, at...)...)
	if out := succeeds(t, append([]string{"dataset", "check", "letters"}, at...)...); !strings.Contains(out, "letters: no problems found") {
		t.Error(out)
	}
	runs := filepath.Join(data, "runs")
	var o protocol.Outcome
	decode(t, succeeds(t, append([]string{"run", "--dataset", "letters", "--preprocess", "standardize", "--epochs", "12", "--seeds", "1", "--json", "--out", runs}, at...)...), &o)
	if mean := o.Test.PerClass.Mean; mean < 2*o.Test.Chance() {
		t.Errorf("accuracy %.3f on %d unseen classes", mean, o.Test.Classes)
	}

	// The new class, by its description among the test classes.
	model := filepath.Join(runs, "latest")
	table := filepath.Join(data, "new.csv")
	writeText(t, table, header+"\n"+described)
	among := []string{"--model", model, "--classes", table, "--among", "test", "--weights", weights}
	out := succeeds(t, append(append([]string{"predict", "--format", "jsonl", "--top", "99"}, among...), "--images", newClass)...)
	var mean float64 // probability of the new class
	for line := range strings.Lines(out) {
		var p struct {
			ID  string
			Top []struct {
				Class       string
				Probability float64
			}
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil || !strings.HasSuffix(p.ID, ".png") || len(p.Top) != o.Test.Classes+1 {
			t.Fatalf("%s: %v", line, err)
		}
		for _, c := range p.Top {
			if c.Class == unknown {
				mean += c.Probability / 8
			}
		}
	}
	if n := strings.Count(out, "\n"); n != 8 || mean < 1.5/float64(o.Test.Classes+1) {
		t.Errorf("%d photographs of the new class, of mean probability %.3f", n, mean)
	}
	image := filepath.Join(newClass, "3.png")
	page := succeeds(t, append(append([]string{"explain", "--format", "html"}, among...), "--image", image)...)
	if !strings.Contains(page, `<img src="data:image/png;base64,`) || !strings.Contains(page, "photograph 3.png is predicted as") {
		t.Errorf("the page has no photograph:\n%.2000s", page)
	}

	// Samples of the data set have ids and pictures.
	page = succeeds(t, append([]string{"explain", "--format", "html", "--model", model, "--sample", "B/2.png"}, at...)...)
	if !strings.Contains(page, `<img src="data:image/png;base64,`) || !strings.Contains(page, "B/2.png (sample ") {
		t.Errorf("the page of a sample has no photograph:\n%.2000s", page)
	}
	if out := succeeds(t, append([]string{"predict", "--model", model, "--dataset", "letters", "--format", "csv"}, at...)...); !strings.HasPrefix(out, "sample,id,true_class,prediction,") {
		t.Errorf("%.200s", out)
	}

	// Other features than those of the model are refused.
	if err := os.Truncate(weights, 1000); err != nil {
		t.Fatal(err)
	}
	predict := append([]string{"predict"}, among...)
	refuses(t, append(predict, "--images", image), weights)
	if err := resnettest.WriteResNet18(weights); err != nil {
		t.Fatal(err)
	}
	misused(t, append(predict, "--fit", "crop", "--images", image), "--fit: expected squash, as for the features that the model was trained on, found crop")
	misused(t, append(predict, "--size", "64", "--images", image), "--size: expected 48")
	misused(t, append(predict, "--images", image, "--features", "x.npy"), "one of --features, --dataset and --images")
	misused(t, []string{"predict", "--model", model, "--images", image}, "--weights: expected a safetensors file", "dataset fetch resnet50")
	misused(t, append(append([]string{"predict"}, among...), "--features", "x.npy"), "--weights: expected --images beside it")
	refuses(t, append(predict, "--images", filepath.Join(data, "none.png")), "none.png", "no such file")
	misused(t, []string{"explain", "--model", model, "--image", image, "--sample", "3"}, "--sample: expected no --sample beside --image")
}

func TestExtractRefuses(t *testing.T) {
	data := t.TempDir()
	text := filepath.Join(data, "text.safetensors")
	writeText(t, text, "no weights")
	photos := filepath.Join(data, "photos")
	if err := os.MkdirAll(filepath.Join(photos, "owl"), 0o777); err != nil {
		t.Fatal(err)
	}
	extract := func(args ...string) []string {
		return append([]string{"dataset", "extract", "--data-dir", data}, args...)
	}
	misused(t, extract("birds"), "--images: expected a folder of images, or --list")
	refuses(t, extract("birds", "--images", photos, "--weights", text), "expected images: .jpg")
	writeText(t, filepath.Join(photos, "owl", "1.png"), "no image")
	misused(t, extract("birds", "--images", photos), "--weights: expected a safetensors file")
	refuses(t, extract("birds", "--images", photos, "--weights", text), text)
	misused(t, extract("birds", "--images", photos, "--weights", text, "--fit", "crp"), "--fit: expected one of crop, squash", "Did you mean crop?")
	misused(t, extract("birds", "--images", photos, "--weights", text, "--size", "16"), "--size: expected 32 to 1024 pixels, found 16")
	misused(t, extract("birds", "--images", photos, "--weights", text, "--shard", "2/2"), "--shard: expected I/N")
	refuses(t, extract("a/b", "--images", photos, "--weights", text), "a name for a folder of the data directory")
	refuses(t, extract("glyphs", "--images", photos, "--weights", text), "a name for a folder of the data directory")
	refuses(t, extract("--images", photos), "the name of one data set")
}
