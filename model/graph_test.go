package model_test

import (
	"flag"
	"html"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

var update = flag.Bool("update", false, "write the pictures of the graphs, with dot of Graphviz")

// The pictures in docs are of the graphs, with all terms of the loss.
func TestPicturesOfTheGraphs(t *testing.T) {
	c := learned
	c.Prior = model.PerAttribute
	tr := newTrial(t, c, sizes{n: 11, d: 13, m: 6, k: 3, z: 5}, 1)
	letters := map[int]string{11: "N", 13: "D", 6: "M", 3: "K", 5: "Z", 7: "(Z+2)", 70: "N M + 4"}
	for name, dot := range map[string]string{
		"graph-w": tr.byW(t).Dot("graph-w", letters),
		"graph-v": tr.byV(t).Dot("graph-v", letters),
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
