package extract

import (
	"bytes"
	"context"
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

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/predict"
	"github.com/lago-train/lago-train/model/resnet"
	"github.com/lago-train/lago-train/model/resnet/resnettest"
)

const side = 32 // of images, the smallest that a network takes

var _ predict.Identified = (*Source)(nil)

// network is a ResNet-18 with weights by formula.
var network = sync.OnceValue(func() *resnet.Network {
	dir, err := os.MkdirTemp("", "weights")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "w.safetensors")
	if err := resnettest.WriteResNet18(path); err != nil {
		panic(err)
	}
	n, err := resnet.Read(context.Background(), path, nil)
	if err != nil {
		panic(err)
	}
	return n
})

func extractor(t *testing.T) *Extractor {
	t.Helper()
	e, err := New(network(), images.Preprocessing(dataset.Squash, side), maxBatch)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// photographs writes n images of each of two classes, all different, into a folder.
func photographs(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for z, class := range []string{"owl", "wren"} {
		if err := os.Mkdir(filepath.Join(dir, class), 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			m := image.NewRGBA(image.Rect(0, 0, side, side))
			for p := range side * side {
				m.SetRGBA(p%side, p/side, color.RGBA{uint8(p * (i + 1)), uint8(200 * z), uint8(p / side * i), 255})
			}
			var b bytes.Buffer
			if err := errors.Join(png.Encode(&b, m), os.WriteFile(filepath.Join(dir, class, fmt.Sprintf("%02d.png", i)), b.Bytes(), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func config(t *testing.T, photos, dir string) Config {
	t.Helper()
	list, err := images.List(photos)
	if err != nil {
		t.Fatal(err)
	}
	return Config{Dir: dir, ImageDir: photos, Images: list}
}

// files returns the content of the files of a data set, but for extract.json, which has
// the folder of the images.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

func extract(t *testing.T, c Config) *Result {
	t.Helper()
	r, err := Extract(t.Context(), extractor(t), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fails(t *testing.T, c Config, parts ...string) {
	t.Helper()
	_, err := Extract(t.Context(), extractor(t), c)
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, expected %q", err, part)
		}
	}
}

func TestExtract(t *testing.T) {
	photos, dir := photographs(t, 19), filepath.Join(t.TempDir(), "data", "Birds")
	c := config(t, photos, dir)
	var last Progress
	c.OnProgress = func(p Progress) { last = p }
	r := extract(t, c)
	want := &Result{
		Name: "birds", Dir: dir, Architecture: "resnet18", Weights: network().SHA256, Images: 38, Samples: 38, Classes: 2, Dimensions: 512, Skipped: []Skipped{},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if last.Done != 38 || last.Total != 38 || last.Rate <= 0 {
		t.Errorf("the progress ends with %+v", last)
	}
	got := files(t, dir)
	if !strings.HasPrefix(got["images.csv"], "path\nowl/00.png\n") || !strings.HasPrefix(got["labels.csv"], "class\nowl\n") || len(got) != 4 {
		t.Errorf("the files are %v", got)
	}
	x, err := features.ReadAll(t.Context(), filepath.Join(dir, "features.npy"))
	if err != nil || x.Rows != 38 || x.Cols != 512 {
		t.Fatalf("%d x %d: %v", x.Rows, x.Cols, err)
	}
	for i, m := range c.Images { // each row is of its image
		if s := source(t, m); !near(s, x.Row(i)) {
			t.Errorf("row %d is not that of %s", i, m.ID)
		}
	}

	// The finished data set is used, whatever has become of the images.
	c.OnProgress = func(Progress) { t.Error("an image is extracted again") }
	if again := extract(t, c); !cmp.Equal(want, again) {
		t.Errorf("again: %+v", again)
	}
	c.Images = c.Images[1:]
	fails(t, c, dir, "images: expected 38, as in the extraction in this folder, found 37", "another name")
}

func source(t *testing.T, m images.Image) []float32 {
	t.Helper()
	x := dataset.NewMatrix[float32](1, network().Dims)
	s := extractor(t).NewSource(t.Context(), []images.Image{m}, nil)
	if n, err := s.Read(x); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if _, err := s.Read(x); err != io.EOF {
		t.Errorf("after the last image: %v", err)
	}
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
		c.OnProgress = func(Progress) {
			if n++; n == after {
				cancel()
			}
		}
		_, err := Extract(ctx, extractor(t), c)
		if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "interrupted after ") {
			t.Fatalf("error %v", err)
		}
	}
	parts, err := filepath.Glob(filepath.Join(c.Dir, partsDir, "*.safetensors"))
	if err != nil || len(parts) != 1 {
		t.Fatalf("parts %v, %v", parts, err)
	}
	var first Progress
	c.OnProgress = func(p Progress) {
		if first.Done == 0 {
			first = p
		}
	}
	extract(t, c)
	if first.Done != partImages+1 {
		t.Errorf("resumed with %d images", first.Done)
	}
	if diff := cmp.Diff(want, files(t, c.Dir)); diff != "" {
		t.Errorf("resumed (-want +got):\n%s", diff)
	}

	c = config(t, photos, filepath.Join(root, "shards"))
	for i, left := range []int{30, 14, 0} {
		c.Shard = lab.Shard{Index: i, Count: 3}
		if r := extract(t, c); r.Left != left {
			t.Errorf("shard %d leaves %d images, expected %d", i, r.Left, left)
		}
	}
	if diff := cmp.Diff(want, files(t, c.Dir)); diff != "" {
		t.Errorf("shards (-want +got):\n%s", diff)
	}
}

func TestBrokenImages(t *testing.T) {
	photos, dir := photographs(t, 10), filepath.Join(t.TempDir(), "birds")
	broken := filepath.Join(photos, "owl", "03.png")
	if err := os.WriteFile(broken, []byte("no image"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := config(t, photos, dir)
	fails(t, c, broken+": expected a JPEG", "--skip-broken leaves such images out.")
	c.SkipBroken = true
	r := extract(t, c)
	if r.Samples != 19 || len(r.Skipped) != 1 || r.Skipped[0].Path != "owl/03.png" || !strings.Contains(r.Skipped[0].Reason, "another format") {
		t.Errorf("%+v", r)
	}
	got := files(t, dir)
	if strings.Contains(got["images.csv"], "owl/03.png") || strings.Count(got["labels.csv"], "owl") != 9 || !strings.HasPrefix(got["skipped.csv"], "path,reason\nowl/03.png,") {
		t.Errorf("%v", got)
	}
	x, err := features.ReadAll(t.Context(), filepath.Join(dir, "features.npy"))
	if err != nil || x.Rows != 19 || !near(x.Row(3), source(t, c.Images[4])) {
		t.Errorf("%d rows: %v", x.Rows, err)
	}
}

// A file that cannot be read stops the work, as it may be read the next time.
func TestErrorsOfTheSystemAreNotBrokenImages(t *testing.T) {
	photos, dir := photographs(t, 14), filepath.Join(t.TempDir(), "birds")
	c := config(t, photos, dir)
	c.SkipBroken = true
	last := c.Images[len(c.Images)-1].Path
	c.OnProgress = func(Progress) { // the last image is not yet decoded
		if err := os.Rename(last, last+".away"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	fails(t, c, last+": no such file")
	if err := os.Rename(last+".away", last); err != nil {
		t.Fatal(err)
	}
	c.OnProgress = nil
	if r := extract(t, c); r.Samples != 28 {
		t.Errorf("%+v", r)
	}
}

func TestRefusesOtherWork(t *testing.T) {
	photos, dir := photographs(t, 2), filepath.Join(t.TempDir(), "birds")
	c := config(t, photos, dir)
	c.Shard = lab.Shard{Index: 1, Count: 2} // which has no part
	if r := extract(t, c); r.Left != 4 {
		t.Fatalf("%+v", r)
	}
	e, err := New(network(), images.Preprocessing(dataset.Crop, side), maxBatch)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Extract(t.Context(), e, c); err == nil || !strings.Contains(err.Error(), "preprocessing: expected squash to 32 x 32 pixels, as in the extraction in this folder, found crop to 32 x 32 pixels of a shorter side of 37. ") || !strings.Contains(err.Error(), "Remove this folder to start again.") {
		t.Errorf("another preprocessing: %v", err)
	}
	if err := os.WriteFile(filepath.Join(photos, "owl", "00.png"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	fails(t, c, "sizes or boxes of the images")
	other := filepath.Join(t.TempDir(), "mine")
	if err := errors.Join(os.Mkdir(other, 0o755), os.WriteFile(filepath.Join(other, "labels.csv"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	c.Dir = other
	fails(t, c, other+": expected a folder without samples, found labels.csv")
	c.Images[0].Path = filepath.Join(photos, "none.png")
	c.SkipBroken = true
	fails(t, c, "none.png", "no such file")
}

// A folder without classes gives features without labels.
func TestFlatFolder(t *testing.T) {
	photos, dir := photographs(t, 3), filepath.Join(t.TempDir(), "birds")
	c := config(t, filepath.Join(photos, "owl"), dir)
	if r := extract(t, c); r.Classes != 0 || r.Samples != 3 {
		t.Errorf("%+v", r)
	}
	if got := files(t, dir); got["labels.csv"] != "" || got["images.csv"] != "path\n00.png\n01.png\n02.png\n" {
		t.Errorf("%v", got)
	}
}

func TestSourceFillsBlocks(t *testing.T) {
	c := config(t, photographs(t, 6), "")
	s := extractor(t).NewSource(t.Context(), c.Images, nil)
	block := dataset.NewMatrix[float32](5, s.Cols())
	var sizes []int
	for {
		n, err := s.Read(block)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, n)
	}
	if !slices.Equal(sizes, []int{5, 5, 2}) {
		t.Errorf("blocks of %v", sizes)
	}
	index, id, class := s.Sample(7)
	if longest, classes := s.Known(); longest != len(id) || !classes || index != 7 || id != "wren/01.png" || class != "wren" {
		t.Errorf("sample 7 is %d, %s of %s", index, id, class)
	}
}
