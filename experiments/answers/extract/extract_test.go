package extract

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/network/networktest"
)

func TestMain(m *testing.M) {
	if _, err := blas.Use(""); err != nil {
		panic(err)
	}
	m.Run()
}

const side = 32 // of images, the smallest that a network takes

var _ predictor.Identified = (*Source)(nil)

// weights are a ResNet-18 with weights by formula.
var weights = sync.OnceValue(func() *Weights {
	dir, err := os.MkdirTemp("", "weights")
	path := filepath.Join(dir, "w.safetensors")
	if err = errors.Join(err, networktest.WriteResNet18(path)); err != nil {
		panic(err)
	}
	n, err := ReadNetwork(context.Background(), path, NetworkOptions{})
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		panic(err)
	}
	return n
})

func extractor(t *testing.T) *Extractor {
	t.Helper()
	return testkit.Must(New(weights(), images.Preprocessing(dataset.Squash, side), maxBatch))(t)
}

// photographs writes n images of each of two classes, all different, into a folder.
func photographs(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for z, class := range []string{"owl", "wren"} {
		for i := range n {
			m := image.NewRGBA(image.Rect(0, 0, side, side))
			for p := range side * side {
				m.SetRGBA(p%side, p/side, color.RGBA{uint8(p * (i + 1)), uint8(200 * z), uint8(p / side * i), 255})
			}
			var b bytes.Buffer
			testkit.NoError(t, png.Encode(&b, m))
			testkit.Write(t, dir, fmt.Sprintf("%s/%02d.png", class, i), b.String())
		}
	}
	return dir
}

func config(t *testing.T, photos, dir string) Photographs {
	t.Helper()
	list, _, err := images.List(photos, false)
	testkit.NoError(t, err)
	return Photographs{Dir: dir, ImageDir: photos, Images: list}
}

// files returns the content of the files of a data set, without that of its lock.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, e := range testkit.Must(os.ReadDir(dir))(t) {
		all[e.Name()] = testkit.Read(t, filepath.Join(dir, e.Name()))
	}
	delete(all, ".lock")
	return all
}

func extract(t *testing.T, c Photographs) *Extracted {
	t.Helper()
	return testkit.Must(Extract(t.Context(), extractor(t), c))(t)
}

func fails(t *testing.T, c Photographs, parts ...string) {
	t.Helper()
	_, err := Extract(t.Context(), extractor(t), c)
	testkit.WantError(t, err, parts...)
}

func TestExtract(t *testing.T) {
	photos, dir := photographs(t, 19), filepath.Join(t.TempDir(), "data", "Birds")
	c := config(t, photos, dir)
	var last format.Progress
	c.OnProgress = func(p format.Progress) { last = p }
	r := extract(t, c)
	want := &Extracted{
		Name: "birds", Dir: dir, Architecture: "resnet18", Weights: weights().SHA256, Images: 38, Samples: 38, Classes: 2, Dimensions: 512, Skipped: []Skipped{},
	}
	testkit.Equal(t, "result", r, want)
	testkit.Equal(t, "end of the progress", []any{last.Ended(), last.Total}, []any{true, int64(38)})
	got := files(t, dir)
	testkit.Equal(t, "files", len(got), 4)
	testkit.WantText(t, got["images.csv"]+got["labels.csv"], "path,sha256\nowl/00.png,", "class\nowl\n")
	sum := sha256.New() // as earlier versions wrote it
	for i, line := range strings.Split(strings.TrimSpace(got["images.csv"]), "\n")[1:] {
		id, content, _ := strings.Cut(line, ",")
		_, _ = fmt.Fprintf(sum, "[%q,%q,%q,null]", id, c.Images[i].Class, content) // a hash never fails
	}
	testkit.WantText(t, got["extract.json"], hex.EncodeToString(sum.Sum(nil)))
	x := testkit.Must(features.ReadAll(t.Context(), filepath.Join(dir, "features.npy")))(t)
	testkit.Equal(t, "rows and columns", []int{x.Rows, x.Cols}, []int{38, 512})
	for i, m := range c.Images { // each row is of its image
		if s := source(t, m); !near(s, x.Row(i)) {
			t.Errorf("row %d is not that of %s", i, m.ID)
		}
	}
}

// A changed folder of photographs: what is new or changed is computed, what is gone dropped, and the rest
// of the data set is as it was. A killed call is finished by the next one.
func TestExtractAgain(t *testing.T) {
	photos, dir := photographs(t, 6), filepath.Join(t.TempDir(), "birds")
	broken := testkit.Write(t, photos, "owl/05.png", "no image")
	c := config(t, photos, dir)
	c.SkipBroken = true
	extract(t, c)
	labels := "test_seen,class\n" + strings.Repeat("no,owl\n", 5) + strings.Repeat("yes,wren\n", 6)
	testkit.Write(t, dir, "labels.csv", labels)
	testkit.Write(t, dir, "splits.csv", "class,part\nowl,train\nwren,test\n")
	before := testkit.Must(features.ReadAll(t.Context(), filepath.Join(dir, "features.npy")))(t)

	testkit.NoError(t, os.Remove(filepath.Join(photos, "owl", "02.png")))
	testkit.NoError(t, os.Remove(broken))
	for to, from := range map[string]string{"wren/00.png": "owl/00.png", "owl/02b.png": "wren/05.png", "robin/new.png": "wren/03.png"} {
		testkit.Write(t, photos, to, testkit.Read(t, filepath.Join(photos, from)))
	}
	moved := filepath.Join(t.TempDir(), "moved")
	testkit.NoError(t, os.Rename(photos, moved))
	c = config(t, moved, dir)
	computed := 0
	c.OnProgress = func(format.Progress) { computed++ }
	r := extract(t, c)
	counts := []int{computed, r.Samples, r.Kept, r.Dropped, r.Classes, len(r.Skipped)}
	testkit.Equal(t, "computed, samples, kept, dropped, classes, skipped", counts, []int{3, 12, 9, 1, 3, 0})
	testkit.WantText(t, r.Tables()[0].Text(1000, 0), "kept 9 samples, computed 3, dropped 1 whose images are gone")
	got := files(t, dir)
	want := "test_seen,class\n" + strings.Repeat("no,owl\n", 4) + strings.Repeat("yes,wren\n", 6) + ",owl\n,robin\n"
	testkit.Equal(t, "files", len(got), 5)
	testkit.Equal(t, "labels", got["labels.csv"], want)
	testkit.WantText(t, got["extract.json"], moved)
	x := testkit.Must(features.ReadAll(t.Context(), filepath.Join(dir, "features.npy")))(t)
	lines := strings.Split(got["images.csv"], "\n")[1:]
	for i, id := range []string{"owl/00.png", "owl/01.png", "owl/03.png", "owl/04.png", "wren/00.png", "wren/01.png", "wren/02.png", "wren/03.png", "wren/04.png", "wren/05.png", "owl/02b.png", "robin/new.png"} {
		testkit.WantText(t, lines[i], id+",")
		if !near(source(t, images.Image{ID: id, Path: filepath.Join(moved, id)}), x.Row(i)) {
			t.Errorf("row %d is not that of %s", i, id)
		}
	}
	testkit.Equal(t, "features that are kept", x.Row(2), before.Row(3))
	c.OnProgress = func(format.Progress) { t.Error("an image is extracted again") }
	extract(t, c)
	relative := testkit.Must(openlayout.ReadExtraction(t.Context(), dir))(t).RelativeDir
	testkit.Equal(t, "folder of the images", filepath.Join(dir, relative), moved)

	// Killed in any step of moving the files to their place.
	names := []string{"features.npy", "labels.csv", "images.csv", "extract.json"}
	for n := range names {
		half := filepath.Join(t.TempDir(), "birds")
		testkit.NoError(t, os.CopyFS(half, os.DirFS(dir)))
		for i, name := range names {
			to := filepath.Join(half, partsDir, newDir)
			testkit.NoError(t, os.MkdirAll(to, 0o777))
			if i >= n {
				testkit.NoError(t, os.Rename(filepath.Join(half, name), filepath.Join(to, name)))
				testkit.Write(t, half, name, "earlier")
			}
		}
		c.Dir = half
		unlock := testkit.Must(descriptions.Lock(half))(t)
		fails(t, c, "another process has it open for writing") // a page, which has read the samples
		testkit.NoError(t, unlock())
		extract(t, c)
		testkit.Equal(t, fmt.Sprintf("killed after %d files", n), files(t, half), got)
	}
}

// Another folder replaces a data set only where that is said.
func TestReplace(t *testing.T) {
	c := config(t, photographs(t, 2), filepath.Join(t.TempDir(), "birds"))
	extract(t, c)
	before, wrong := files(t, c.Dir), t.TempDir()
	testkit.Write(t, wrong, "owl/other.png", testkit.Read(t, c.Images[0].Path))
	c = config(t, wrong, c.Dir)
	fails(t, c, "birds: expected some of the 4 images that it has samples of, found none of them among 1 image. Is --images")
	testkit.Equal(t, "files", files(t, c.Dir), before)
	c.Replace = true
	testkit.Equal(t, "samples", extract(t, c).Samples, 1)
}

// source returns the features of an image on its own.
func source(t *testing.T, m images.Image) []float32 {
	t.Helper()
	x := dataset.NewMatrix[float32](1, weights().Dims())
	testkit.Equal(t, "images", testkit.Must(extractor(t).NewSource(t.Context(), []images.Image{m}, nil).Read(x))(t), 1)
	return x.Data
}

// near allows for the place in a batch.
func near(x, y []float32) bool { return cosine(x, y) > 1-1e-9 }

// An interrupted extraction, and one by shards, end with the same bytes.
func TestResumesBitIdentical(t *testing.T) {
	photos, root := photographs(t, 23), t.TempDir()
	extract(t, config(t, photos, filepath.Join(root, "whole")))
	want := files(t, filepath.Join(root, "whole"))

	c := config(t, photos, filepath.Join(root, "interrupted"))
	for _, after := range []int{partImages + 3, 2} { // the second one within the next part
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		c.OnProgress = func(format.Progress) {
			if n++; n == after {
				cancel()
			}
		}
		_, err := Extract(ctx, extractor(t), c)
		if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "interrupted after ") {
			t.Fatalf("error %v", err)
		}
	}
	testkit.Equal(t, "parts", len(testkit.Must(filepath.Glob(filepath.Join(c.Dir, partsDir, "*.safetensors")))(t)), 1)
	var first format.Progress
	c.OnProgress = func(p format.Progress) {
		if first.Done == 0 {
			first = p
		}
	}
	extract(t, c)
	testkit.Equal(t, "resumed with", first.Done, partImages+1)
	testkit.Equal(t, "resumed", files(t, c.Dir), want)

	c = config(t, photos, filepath.Join(root, "shards"))
	for i, left := range []int{30, 14, 0} {
		c.Shard = lab.Shard{Index: i, Count: 3}
		testkit.Equal(t, fmt.Sprintf("images that shard %d leaves", i), extract(t, c).Left, left)
	}
	testkit.Equal(t, "shards", files(t, c.Dir), want)
}

// Calls that extract one data set at the same time wait for each other, but for its shards.
func TestTwoExtractionsAtATime(t *testing.T) {
	photos, root := photographs(t, 23), t.TempDir()
	extract(t, config(t, photos, filepath.Join(root, "alone")))
	want := files(t, filepath.Join(root, "alone"))
	for _, shards := range []int{1, 2} {
		c := config(t, photos, filepath.Join(root, fmt.Sprint("data", shards)))
		errs := make(chan error)
		for i := range 4 { // two of each shard
			c.Shard = lab.Shard{Index: i % shards, Count: shards}
			e, photographs := extractor(t), c
			go func() {
				_, err := Extract(t.Context(), e, photographs)
				errs <- err
			}()
		}
		for range 4 {
			testkit.NoError(t, <-errs)
		}
		testkit.Equal(t, fmt.Sprintf("%d shards", shards), files(t, c.Dir), want)
	}
}

func TestBrokenImages(t *testing.T) {
	photos, dir := photographs(t, 10), filepath.Join(t.TempDir(), "birds")
	broken := testkit.Write(t, photos, "owl/03.png", "no image")
	testkit.NoError(t, os.Truncate(testkit.Write(t, photos, "wren/09.png", ""), 1<<40)) // is not read
	c := config(t, photos, dir)
	fails(t, c, broken+": expected a JPEG", "--skip-broken leaves such images out.")
	c.SkipBroken = true
	r := extract(t, c)
	testkit.Equal(t, "samples and skipped", []int{r.Samples, len(r.Skipped)}, []int{18, 2})
	testkit.WantText(t, r.Skipped[0].Reason, "unknown format")
	got := files(t, dir)
	testkit.WantNoText(t, got["images.csv"], "owl/03.png")
	testkit.Equal(t, "owls", strings.Count(got["labels.csv"], "owl"), 9)
	testkit.WantText(t, got["skipped.csv"], "path,reason\nowl/03.png,")
	x := testkit.Must(features.ReadAll(t.Context(), filepath.Join(dir, "features.npy")))(t)
	testkit.Equal(t, "rows, and the one behind the broken image", []any{x.Rows, near(x.Row(3), source(t, c.Images[4]))}, []any{18, true})
}

// A file that cannot be read stops the work, as it may be read the next time.
func TestErrorsOfTheSystemAreNotBrokenImages(t *testing.T) {
	photos, dir := photographs(t, 14), filepath.Join(t.TempDir(), "birds")
	c := config(t, photos, dir)
	c.SkipBroken = true
	last := c.Images[len(c.Images)-1].Path
	c.OnProgress = func(format.Progress) { // the last image is not yet decoded
		if err := os.Rename(last, last+".away"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	fails(t, c, last+": expected a file, found no such file")
	testkit.NoError(t, os.Rename(last+".away", last))
	c.OnProgress = nil
	testkit.Equal(t, "samples", extract(t, c).Samples, 28)
}

func TestRefusesOtherWork(t *testing.T) {
	photos, dir := photographs(t, 2), filepath.Join(t.TempDir(), "birds")
	c := config(t, photos, dir)
	c.Shard = lab.Shard{Index: 1, Count: 2} // which has no part
	testkit.Equal(t, "images left", extract(t, c).Left, 4)
	e := testkit.Must(New(weights(), images.Preprocessing(dataset.Crop, side), maxBatch))(t)
	testkit.Fails(New(weights(), images.Preprocessing(dataset.Crop, 1<<20), 1))(t, "preprocessing: expected crop or squash to at most 1024 pixels, found crop to 1048576 x 1048576 pixels")
	_, err := Extract(t.Context(), e, c)
	testkit.WantError(t, err, "preprocessing: expected squash to 32 x 32 pixels, as in the extraction in this folder, found crop to 32 x 32 pixels of a shorter side of 37. Remove this folder to start again.")
	// A photograph that changes is noticed, also where its size does not.
	first := filepath.Join(photos, "owl", "00.png")
	changed := []byte(testkit.Read(t, first))
	changed[len(changed)-20]++
	testkit.NoError(t, os.WriteFile(first, changed, 0o600))
	fails(t, c, c.Dir, "names, classes and content that this extraction began with", "Remove this folder to start again.")
	c.Dir = filepath.Dir(testkit.Write(t, t.TempDir(), "mine/labels.csv", ""))
	fails(t, c, c.Dir+": expected a folder without samples, found labels.csv")
}

// A broken image is left out where that is decided, and the samples behind it keep their names.
func TestSourceLeavesBrokenImagesOut(t *testing.T) {
	c := config(t, photographs(t, 3), "")
	list := slices.Insert(slices.Clone(c.Images), 1, images.Image{ID: "broken.png", Path: testkit.Write(t, t.TempDir(), "broken.png", "no image")})
	s := extractor(t).NewSource(t.Context(), list, nil)
	block := dataset.NewMatrix[float32](4, s.Cols())
	if n, err := s.Read(block); n != 1 || err == nil {
		t.Errorf("%d images and the error %v", n, err)
	}
	s = extractor(t).NewSource(t.Context(), list, nil)
	var broken []string
	s.OnBroken = func(m images.Image, err error) error {
		testkit.WantError(t, err, "broken.png", "expected a JPEG")
		broken = append(broken, m.ID)
		return nil
	}
	for _, want := range []int{4, 2} {
		testkit.Equal(t, "images of a block", testkit.Must(s.Read(block))(t), want)
	}
	testkit.Fails(s.Read(block))(t, io.EOF.Error())
	index, id, class := s.Sample(1)
	testkit.Equal(t, "sample", []any{index, id, class}, []any{2, c.Images[1].ID, "owl"})
	testkit.Equal(t, "left out", broken, []string{"broken.png"})
	testkit.Equal(t, "the last image is the last row", near(block.Row(1), source(t, c.Images[5])), true)
}
