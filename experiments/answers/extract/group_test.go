package extract

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/testkit"
)

// Photographs around distinct points are in the groups of these points, and all are on the page.
func TestGroup(t *testing.T) {
	dir := t.TempDir()
	const classes, each = 4, 5
	x, list := dataset.NewMatrix[float32](classes*each, 8), "path,sha256\n"
	var picture bytes.Buffer
	testkit.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))))
	for i := range x.Rows {
		x.Row(i)[i%classes], x.Row(i)[4+i%3] = 9, 1
		name := fmt.Sprintf("%d-%d.png", i%classes, i)
		testkit.Write(t, dir, name, picture.String())
		list += name + ",\n"
	}
	testkit.Write(t, dir, "images.csv", list)
	testkit.NoError(t, features.WriteNPY(filepath.Join(dir, openlayout.FeaturesFile), x))
	g := testkit.Must(Group(t.Context(), dir, classes, 1))(t)
	g.Dir = dir
	for _, group := range g.Groups {
		first := group[0][:1]
		if len(group) != each || slices.ContainsFunc(group, func(path string) bool { return path[:1] != first }) {
			t.Errorf("a group %q", group)
		}
	}
	var page bytes.Buffer
	testkit.NoError(t, g.Write(t.Context(), &page))
	testkit.Equal(t, "pictures", bytes.Count(page.Bytes(), []byte("<img src=\"data:image/jpeg;base64,")), x.Rows)
	testkit.Fails(Group(t.Context(), dir, x.Rows+1, 1))(t, "into: expected at most the number of photographs, 20, found 21")
	testkit.Fails(Group(t.Context(), t.TempDir(), 2, 1))(t, "expected images.csv, as dataset extract writes, found none")
}
