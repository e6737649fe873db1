package evaluation

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/lago-train/lago-train/train/metrics"
)

func TestDump(t *testing.T) {
	root := os.Getenv("DUMP")
	if root == "" {
		t.Skip()
	}
	bare := oddsOfThree()
	bare.Kind = BareScores
	for name, r := range map[string]*Result{
		"birds": Config{Bins: 2}.evaluate(birds(), oddsAmongBirds()), "odds": Config{Bins: 5}.evaluate(oddsOfThree(), oddsOfThree()),
		"bare": Config{Bins: 5}.evaluate(bare, nil), "alone": Config{Bins: 4}.evaluate(birds(), nil),
	} {
		if name == "birds" {
			r.Source = Source{Split: "gzsl", Dataset: "birds\x1b", Models: []EvaluatedModel{{"runs/a", "singletons", 3, 0.5, metrics.Interval{Low: 0.25, High: 0.75}}, {Path: "runs/b", Method: "k-soft", Seed: 4, PerClass: 0.25}}}
			r.Validation.Of = []string{"runs/c", "runs/d"}
			r.note("it rained")
		} else {
			r.Source = Source{Scores: "s.npy", Labels: "l.txt"}
		}
		dir := filepath.Join(root, name)
		if err := r.WriteCSV(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := r.WriteFigures(dir); err != nil {
			t.Fatal(err)
		}
		f, _ := os.Create(filepath.Join(dir, "text"))
		dumpText(r, f)
		f.Close()
		j, err := json.MarshalIndent(r, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(dir, "json"), j, 0o644)
	}
}
func dumpText(r *Result, f *os.File) { r.WriteText(f) }
