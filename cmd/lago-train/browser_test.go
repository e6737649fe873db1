//go:build chromium && shared

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/testkit"
)

// The whole way with photographs of 28 species: a draft of their descriptions is imported, a model is trained,
// a class is added, and photographs are predicted, with the numbers of explain and predict.
func TestWholeWayInBrowser(t *testing.T) {
	photos, weights := testkit.Shared(t, "photos"), testkit.Shared(t, "resnet", "imagenet-resnet50-v1.safetensors")
	cub, other := testkit.Shared(t, "data", "CUB127"), testkit.Shared(t, "resnet", "images", "f-photo.jpg")
	photo := filepath.Join(photos, "images", "139.Scarlet_Tanager", "0000.jpg")
	b := testkit.NewBrowser(t, 15*time.Minute)
	data := t.TempDir()
	folder, runs := filepath.Join(data, "birds"), filepath.Join(data, "runs")
	run := func(args ...string) string { t.Helper(); return succeeds(t, append(args, "--data-dir", data)...) }

	testkit.NoError(t, os.Symlink(cub, filepath.Join(data, "CUB127")))
	extractPhotographs(t, photos, folder, photo, weights, run)
	run("dataset", "describe", "birds", "--like", "cub127")

	draft := testkit.Must(filepath.Abs("../../dataset/descriptions/testdata/draft.csv"))(t)
	testkit.WantText(t, run("dataset", "describe", "birds", "--from", draft, "--draft"), "groups of classes are to be checked")
	run("run", "--dataset", "birds", "--seeds", "1", "--epochs", "40", "--out", runs)

	m := filepath.Join(runs, "latest")
	c := process(t, "serve", "birds", "--data-dir", data, "--model", m, "--weights", weights)
	b.Run(chromedp.Navigate(served(t, c)), chromedp.WaitVisible(".grid"))
	t.Cleanup(func() {
		_ = c.Process.Kill() // which loses no change
		_ = c.Wait()
	})
	b.Click("Try")
	b.Run(chromedp.SendKeys(`[aria-label="Name of a class to try"]`, "Blue Tanager\n"))
	on := func(key, do string) { // in one step, since the page is drawn anew
		b.Run(chromedp.Poll(fmt.Sprintf(`(e => e && (e.%s(), true))(document.querySelector('#try [data-key="%s"]'))`, do, key), nil))
	}
	on("grouphas_crown_color", "click")
	on("Blue Tanagerhas_crown_color::blue", "focus")
	b.Run(chromedp.KeyEvent("y"))
	b.Click("Keep")
	b.Waits("Blue Tanager is in classes.csv.")
	testkit.WantText(t, testkit.Read(t, filepath.Join(folder, "classes.csv")), "\nBlue Tanager,")

	b.Run(chromedp.SetUploadFiles(`input[type=file]`, []string{photo}))
	of := []string{"--model", m, "--weights", weights, "--data-dir", data, "--candidates"}
	var fit float64
	for _, c := range []struct{ candidates, shown string }{{"unseen", "Most likely of 9 unseen classes"}, {"all", "Most likely of 29 classes"}} {
		if c.candidates == "all" {
			b.Run(chromedp.Click(`//label[contains(., "only classes that the model was not trained on")]/input`, chromedp.BySearch))
		}
		b.Waits(c.shown)
		var page struct {
			Predicted, Sentence string
			Likely              []predictor.Probability
			Fit                 float64
			LogOdds             float64 `json:"log_odds"`
			Groups              []struct {
				LogOdds float64 `json:"log_odds"`
			}
		}
		b.Run(chromedp.Evaluate(`trial.answer`, &page))
		e := printed[predictor.Explanation](t, append(append([]string{"explain", "--image", photo, "--format", "json"}, of...), c.candidates)...)
		testkit.Equal(t, c.candidates+": probabilities", page.Likely, e.Likely)
		testkit.Equal(t, c.candidates+": log odds", page.LogOdds, e.Comparisons[0].LogOdds)
		if len(page.Groups) < 3 {
			t.Errorf("%s: %d groups on the page", c.candidates, len(page.Groups))
		}
		for i, g := range page.Groups[:max(len(page.Groups)-2, 0)] { // the last are the others and the correction
			testkit.Equal(t, c.candidates+": contribution", g.LogOdds, e.Comparisons[0].Groups[i].Contribution)
		}
		testkit.WantText(t, strings.Join(strings.Fields(succeeds(t, append(append([]string{"explain", "--image", photo}, of...), c.candidates)...)), " "), page.Sentence)
		testkit.Equal(t, c.candidates+": fit", page.Fit, *e.Fit)
		fit = page.Fit
		b.Looks("whole-" + c.candidates)
	}
	// A photograph of something else fits less well, on the page as in predict, which sets it apart.
	b.Run(chromedp.SetUploadFiles(`input[type=file]`, []string{other}), chromedp.Poll(fmt.Sprintf(`trial.answer.fit !== %v`, fit), nil, chromedp.WithPollingTimeout(2*time.Minute)))
	var apart float64
	b.Run(chromedp.Evaluate(`trial.answer.fit`, &apart))
	b.Looks("whole-other")
	if fit <= apart {
		t.Errorf("a described class fits as well as %g, something else %g", fit, apart)
	}
	least := (fit + apart) / 2
	out := succeeds(t, append([]string{"predict", "--images", photo, "--images", other, "--format", "csv", "--min-fit", fmt.Sprint(least)}, append(of, "all")...)...)
	for i, row := range records(t, out) {
		found := testkit.Must(strconv.ParseFloat(row["fit"], 64))(t)
		testkit.Near(t, "fit", found, []float64{fit, apart}[i], 1e-4)
		testkit.Equal(t, "predicted", row["prediction"] != "", found > least)
	}
}

// extractPhotographs writes the data set of the photographs. Only one is extracted here; the features of all
// are there.
func extractPhotographs(t *testing.T, photos, folder, photo, weights string, run func(args ...string) string) {
	t.Helper()
	one := t.TempDir()
	testkit.Write(t, one, "bird/one.jpg", testkit.Read(t, photo))
	run("dataset", "extract", "birds", "--images", one, "--weights", weights, "--fit", "squash")
	labels, paths, splits, seen := "class\n", "path\n", "class,part\n", map[string]int{}
	for _, path := range strings.Fields(testkit.Read(t, filepath.Join(photos, "files.txt"))) {
		class, _, _ := strings.Cut(strings.TrimPrefix(path, "images/"), "/")
		labels, paths = labels+class+"\n", paths+strings.TrimPrefix(path, "images/")+"\n"
		seen[class]++
	}
	for i, class := range slices.Sorted(maps.Keys(seen)) {
		part := "test" // of 6 photographs
		if seen[class] == 8 {
			part = []string{"train", "train", "val"}[i%3]
		}
		splits += class + "," + part + "\n"
	}
	for name, text := range map[string]string{"labels.csv": labels, "images.csv": paths, "splits.csv": splits, "features.npy": testkit.Read(t, filepath.Join(photos, "features-squash.npy"))} {
		testkit.Write(t, folder, name, text)
	}
	e := testkit.Must(openlayout.ReadExtraction(t.Context(), folder))(t)
	e.SetImageDir(filepath.Join(photos, "images"), folder)
	testkit.NoError(t, openlayout.WriteExtraction(folder, e))
}
