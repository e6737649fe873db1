package adaptation

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestDump(t *testing.T) {
	root := os.Getenv("DUMP")
	if root == "" {
		t.Skip()
	}
	for name, of := range map[string]func(c, s int) int{
		"good": func(c, _ int) int { return c }, "bad": func(_, s int) int { return s % 12 }, "mixed": func(c, s int) int { return c / 2 },
	} {
		b := simulated(12, 60, of)
		a, _, err := Choose(t.Context(), []*Batch{b})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Evaluate(t.Context(), b, a, 3)
		if err != nil {
			t.Fatal(err)
		}
		ja, _ := json.MarshalIndent(a, "", " ")
		jr, _ := json.MarshalIndent(r, "", " ")
		os.WriteFile(filepath.Join(root, "adapt-"+name), []byte(string(ja)+string(jr)+Text(a)+"\n"+r.String()), 0o644)
	}
}
