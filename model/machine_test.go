package model_test

import (
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// byStock computes a trial in stock ops: the expected results of a WMachine and a VMachine,
// and log p(z|x) up to a constant per sample.
func byStock(t rapid.TB, tr trial[float64]) (byW, byV outcome, l []float64) {
	t.Helper()
	g := G.NewGraph()
	variable := func(name string, data []float64, shape ...int) *G.Node {
		return G.NewTensor(g, G.Float64, len(shape), G.WithShape(shape...), G.WithName(name),
			G.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))))
	}
	w := variable("W", tr.params.W.Data, tr.params.W.Rows, tr.params.W.Cols)
	b := variable("b", tr.params.B, len(tr.params.B))
	v := variable("V", tr.params.V.Data, tr.params.V.Rows, tr.params.V.Cols)
	n := (&oracle{g: g}).loss(tr, w, b, v)
	var logP, cxe, bxe, w2, wu2, prior G.Value
	for node, value := range map[*G.Node]*G.Value{n.logP: &logP, n.cxe: &cxe, n.bxe: &bxe, n.w2: &w2, n.wu2: &wu2, n.prior: &prior} {
		G.Read(node, value)
	}
	grads := testkit.Must(G.Grad(G.Must(G.Sum(n.loss)), w, b, v))(t)
	testkit.NoError(t, G.NewTapeMachine(g).RunAll())
	terms := model.Terms{CXE: numbers(cxe)[0], BXE: numbers(bxe)[0], W2: numbers(w2)[0], WU2: numbers(wu2)[0], GroupPenalty: numbers(prior)[0]}
	byW = outcome{terms, [][]float64{numbers(grads[0].Value()), numbers(grads[1].Value())}}
	byV = outcome{terms, [][]float64{numbers(grads[2].Value())}}
	return byW, byV, numbers(logP)
}

func agreesWithStock(t rapid.TB, tr trial[float64]) {
	t.Helper()
	wantW, wantV, l := byStock(t, tr)
	take(t, tr.byW(t)).close(t, wantW, 1e-9)
	gotV := take(t, tr.byV(t))
	gotV.Terms.BXE = wantV.Terms.BXE // an input of a V machine
	gotV.close(t, wantV, 1e-9)
	model.LogNormalise(l, tr.Classes.U.Rows)
	same(t, "log p(z|x)", tr.logP(t), l)
}

// drawTrial draws a trial of any shape and configuration.
func drawTrial(t *rapid.T) trial[float64] {
	s := sizes{
		n: rapid.IntRange(1, 5).Draw(t, "samples"),
		d: rapid.IntRange(1, 4).Draw(t, "dimensions"),
		m: rapid.IntRange(1, 6).Draw(t, "attributes"),
		z: rapid.IntRange(1, 7).Draw(t, "classes"),
	}
	s.k = rapid.IntRange(1, s.m).Draw(t, "groups")
	weight := func(name string) float64 { return rapid.SampledFrom([]float64{0, 0.1, 2}).Draw(t, name) }
	c := model.Config{
		Variant:    rapid.SampledFrom(model.Variants).Draw(t, "variant"),
		Prior:      rapid.SampledFrom(model.Priors).Draw(t, "prior"),
		Complement: rapid.SampledFrom(model.Complements).Draw(t, "complement"),
		Zeta:       rapid.SampledFrom([]float64{1, 10, 1000}).Draw(t, "zeta"),
		Alpha:      weight("alpha"), Beta: weight("beta"), Lambda: weight("lambda"),
	}
	if c.Variant == model.SemanticSoft {
		c.Psi = weight("psi")
	}
	if c.Complement == model.NoComplement && c.Variant.Learned() {
		c.Zeta = min(c.Zeta, 10) // above, a group may be empty, with a score below the bound of soft AND
	}
	return newTrial(t, c, s, rapid.Uint64().Draw(t, "seed"))
}

func TestMachinesAgreeWithStockOps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { agreesWithStock(t, drawTrial(t)) })
}

// One group, one class and one sample, which random draws might miss.
func TestMachinesAgreeWithStockOpsAt(t *testing.T) {
	for _, s := range []sizes{{n: 1, d: 1, m: 1, k: 1, z: 1}, {n: 3, d: 2, m: 4, k: 1, z: 3}, {n: 1, d: 3, m: 4, k: 2, z: 1}} {
		forConfigs(t, func(t *testing.T, c model.Config) { agreesWithStock(t, newTrial(t, c, s, 7)) })
	}
}

// forConfigs runs a test on all variants, with all terms of the loss, for all choices
// of prior and complement, hard groups with a background and without.
func forConfigs(t *testing.T, test func(t *testing.T, c model.Config)) {
	for _, variant := range model.Variants {
		for next, zeta := range []float64{10, 1000} {
			c := model.Config{Variant: variant, Zeta: zeta, Alpha: 0.5, Beta: 0.01, Lambda: 0.02}
			if variant == model.SemanticSoft {
				c.Psi = 0.3
			}
			for i, complement := range model.Complements {
				c.Complement = complement
				c.Prior = model.Priors[(i+next)%3]
				t.Run(designName(c), func(t *testing.T) { test(t, c) })
			}
		}
	}
}

// The loss of a step of both machines is that of the forward path, and its gradients agree with
// finite differences, also where no class describes an attribute or a whole group.
func TestMachinesAgreeWithForwardAndFiniteDifferences(t *testing.T) {
	const h = 1e-5
	for i, c := range designs() {
		c.Alpha, c.Beta, c.Lambda, c.Smoothing = 0.5, 0.1, 0.2, 0.1*float64(i%2)
		if c.Variant == model.SemanticSoft {
			c.Psi = 0.3
		}
		for _, missing := range [][]int{nil, {4}, {1, 4}, {1, 3, 4}} { // attributes; the third list is group 1
			t.Run(fmt.Sprint(designName(c), " without ", missing), func(t *testing.T) {
				tr := newTrial(t, c, sizes{n: 3, d: 3, m: 6, k: 3, z: 4}, 1)
				for _, m := range missing {
					setColumn(tr.described, m, nan)
				}
				tr = tr.describe(t)
				var cxe float64
				for i, l := range tr.logP(t) {
					if i%4 == tr.y[i/4] {
						cxe -= l / 3
					}
				}
				w, v := tr.byW(t), tr.byV(t)
				byW, byV := take(t, w), take(t, v)
				same(t, "cxe", []float64{byW.Terms.CXE, byV.Terms.CXE}, []float64{cxe, cxe})
				loss := func(m machine) func() float64 {
					return func() float64 { return c.Loss(take(t, m).Terms) }
				}
				testkit.NearAll(t, "dW", byW.Grads[0], differences(tr.params.W.Data, h, loss(w)), 1e-6)
				testkit.NearAll(t, "db", byW.Grads[1], differences(tr.params.B, h, loss(w)), 1e-6)
				if c.Variant.Learned() { // at other V, a small change fills an empty group
					testkit.NearAll(t, "dV", byV.Grads[0], differences(tr.params.V.Data, h/c.Zeta, loss(v)), 1e-6)
				}
			})
		}
	}
}

// differences are those of f over 2h, for each element of x in turn.
func differences(x []float64, h float64, f func() float64) []float64 {
	d := make([]float64, len(x))
	for i, at := range x {
		x[i] = at + h
		up := f()
		x[i] = at - h
		d[i] = (up - f()) / (2 * h)
		x[i] = at
	}
	return d
}

var update = flag.Bool("update", false, "write the pictures of the graphs, with dot of Graphviz")

// The pictures in docs are of the graphs, with all terms of the loss.
func TestPicturesOfTheGraphs(t *testing.T) {
	c := learned
	c.Prior = model.PerAttribute
	tr := newTrial(t, c, sizes{n: 11, d: 13, m: 7, k: 3, z: 5}, 1)
	letters := map[int]string{11: "N", 13: "D", 7: "M", 3: "K", 5: "Z", 6: "(Z+1)"}
	for name, dot := range map[string]string{
		"graph-w": tr.byW(t).Dot("graph-w", letters, map[string]string{"V": "fixed in this phase"}),
		"graph-v": tr.byV(t).Dot("graph-v", letters, map[string]string{"W": "fixed in this phase", "A": "computed before the phase", "BXE": "computed before the phase"}),
	} {
		file := "../docs/" + name
		if *update {
			testkit.NoError(t, os.WriteFile(file+".dot", []byte(dot), 0o644))
			draw := exec.Command("dot", "-Tsvg", "-o", file+".svg", file+".dot")
			draw.Stderr = os.Stderr
			testkit.NoError(t, draw.Run())
		}
		if stored := string(testkit.Must(os.ReadFile(file + ".dot"))(t)); stored != dot {
			t.Errorf("%s.dot is not of this graph: run make graphs\n%s", file, dot)
		}
		svg := html.UnescapeString(string(testkit.Must(os.ReadFile(file + ".svg"))(t)))
		for _, label := range regexp.MustCompile(`label="([^"]*)"`).FindAllStringSubmatch(dot, -1) {
			for line := range strings.SplitSeq(label[1], `\n`) {
				testkit.WantText(t, svg, ">"+line+"<")
			}
		}
	}
}
