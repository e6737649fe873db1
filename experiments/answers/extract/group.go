package extract

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/internal/webpage"
)

// Grouping has photographs without classes in groups that look alike, the largest group first. Its JSON keys
// are stable.
type Grouping struct {
	Name   string     `json:"name"`
	Groups [][]string `json:"groups"` // paths of the photographs, the most typical first

	Dir string `json:"-"` // that the paths are relative to
	As  string `json:"-"` // the data set as it is named in commands
	To  string `json:"-"` // the page
}

const groupRestarts, groupSteps = 8, 50

// Group divides the photographs of a folder that dataset extract wrote by spherical k-means of their
// features, after signed square roots, centring and L2 normalisation. Of some starts it takes the most
// compact result.
func Group(ctx context.Context, dir string, k int, seed uint64) (*Grouping, error) {
	names, err := openlayout.ReadImageNames(ctx, dir)
	if err == nil && names == nil {
		err = &invalid.Error{Where: dir, Want: "images.csv, as dataset extract writes", Got: "none"}
	}
	if err != nil {
		return nil, err
	}
	raw, err := features.ReadAll(ctx, filepath.Join(dir, openlayout.FeaturesFile))
	if err != nil {
		return nil, err
	}
	if k > len(names) || raw.Rows != len(names) {
		return nil, &invalid.Error{
			Field: "into", Want: fmt.Sprintf("at most the number of photographs, %d", len(names)),
			Got: fmt.Sprint(k),
		}
	}
	e, err := openlayout.ReadExtraction(ctx, dir)
	if err != nil {
		return nil, err
	}
	g := &Grouping{Name: filepath.Base(dir)}
	if e != nil {
		g.Dir = e.ImageDir
	}
	x := onSphere(raw)
	best, r := math.Inf(-1), rand.New(rand.NewPCG(seed, seed))
	var of []int
	var near []float64
	for range groupRestarts {
		to, similarity := kMeans(x, k, r)
		if total := floats.Sum(similarity); total > best {
			best, of, near = total, to, similarity
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	rows := make([][]int, k)
	for i, group := range of {
		rows[group] = append(rows[group], i)
	}
	slices.SortStableFunc(rows, func(a, b []int) int { return len(b) - len(a) })
	for _, group := range rows {
		slices.SortStableFunc(group, func(a, b int) int { return cmp.Compare(near[b], near[a]) })
		paths := make([]string, len(group))
		for i, row := range group {
			paths[i] = names[row]
		}
		if len(paths) > 0 {
			g.Groups = append(g.Groups, paths)
		}
	}
	return g, nil
}

// onSphere returns features by whose products samples are compared.
func onSphere(raw dataset.Matrix[float32]) dataset.Matrix[float64] {
	x := dataset.Convert[float64](raw)
	mean := make([]float64, x.Cols)
	for i, v := range x.Data {
		x.Data[i] = math.Copysign(math.Sqrt(math.Abs(v)), v)
		mean[i%x.Cols] += x.Data[i] / float64(x.Rows)
	}
	for i := range x.Data {
		x.Data[i] -= mean[i%x.Cols]
	}
	for i := range x.Rows {
		normalise(x.Row(i))
	}
	return x
}

func normalise(v []float64) { floats.Scale(1/max(floats.Norm(v, 2), 1e-12), v) }

// kMeans returns the group of each row of x and its similarity to the centre. Each first centre is drawn far
// from those before it; a group that loses all rows keeps its centre.
func kMeans(x dataset.Matrix[float64], k int, r *rand.Rand) (of []int, similarity []float64) {
	centres := dataset.NewMatrix[float64](k, x.Cols)
	far := slices.Repeat([]float64{1}, x.Rows)
	for c := range k {
		row, at := 0, r.Float64()*floats.Sum(far)
		for row < x.Rows-1 && at > far[row] {
			at -= far[row]
			row++
		}
		copy(centres.Row(c), x.Row(row))
		products := matrix.Product[float64](x, centres.Slice(c, c+1).T())
		for i, p := range products.Data {
			far[i] = min(far[i], max(1-p, 0))
		}
	}
	of, similarity = make([]int, x.Rows), make([]float64, x.Rows)
	for range groupSteps {
		products, changed := matrix.Product[float64](x, centres.T()), false
		sums := dataset.NewMatrix[float64](k, x.Cols)
		for i := range x.Rows {
			row := products.Row(i)
			group := slices.Index(row, slices.Max(row))
			changed = changed || group != of[i]
			of[i], similarity[i] = group, row[group]
			floats.Add(sums.Row(group), x.Row(i))
		}
		for c := range k {
			if slices.Contains(of, c) {
				normalise(sums.Row(c))
				copy(centres.Row(c), sums.Row(c))
			}
		}
		if !changed {
			break
		}
	}
	return of, similarity
}

// Tables implements the tables of a result.
func (g *Grouping) Tables() []*table.Table {
	t := table.New(g.Name+": groups of photographs that look alike", "group", "photographs", "most typical").
		Right(2)
	for i, group := range g.Groups {
		t.Row(i+1, len(group), group[0])
	}
	t.Note("%s: name the groups there, leave out what does not belong, and save list.csv", g.To)
	return []*table.Table{
		t.Note("then: lago-train dataset extract %s --images %s --list list.csv --weights FILE   "+
			"# keeps the features", g.As, format.ShellLine(g.Dir)),
	}
}

var (
	//go:embed group.html
	groupHTML string
	//go:embed group.js
	groupJS   string
	groupPage = webpage.New("groups", groupHTML, `body { max-width: 90rem }
section ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(7rem, 1fr)); gap: .4rem; padding: 0; list-style: none }
section img { width: 100%; aspect-ratio: 1; object-fit: cover; display: block; cursor: pointer }
section .out { opacity: .25; outline: 3px solid #d55e00 }
input { font: inherit }
form { position: sticky; top: 0; background: var(--paper); padding: .4rem 0 }`, groupJS, template.FuncMap{
		"next": func(i int) int { return i + 1 },
	})
)

// Write writes the page on which the groups are named: one file that loads nothing else.
func (g *Grouping) Write(ctx context.Context, w io.Writer) error {
	const side = 160
	type photograph struct {
		Path    string
		Picture template.URL
	}
	groups := make([][]photograph, len(g.Groups))
	for i, group := range g.Groups {
		for _, path := range group {
			picture, err := images.Thumbnail(ctx, dataset.ImageFile(g.Dir, path), side)
			if err != nil {
				return err
			}
			address, err := webpage.Picture(picture)
			if err != nil {
				return err
			}
			groups[i] = append(groups[i], photograph{path, address})
		}
	}
	return groupPage.Execute(w, map[string]any{"Name": g.Name, "Groups": groups})
}
