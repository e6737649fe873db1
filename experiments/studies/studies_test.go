package studies

import (
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

// The help and the documentation name each study, and no kind of results is of two.
func TestTextsNameEveryStudy(t *testing.T) {
	help, files := testkit.Read(t, "../../cmd/lago-train/help.txt"), testkit.Read(t, "../../docs/files.md")
	var names []string
	for _, s := range All {
		testkit.WantText(t, help, "\n# lago-train "+s.Command+"\n")
		for _, k := range s.Kinds {
			if !strings.HasPrefix(k.Command+" ", s.Command+" ") || k.Title == "" || k.Text == "" || slices.Contains(names, k.Name) {
				t.Errorf("%s: %+v", s.Command, k)
			}
			names = append(names, k.Name)
			testkit.WantText(t, files, k.Name)
		}
	}
}
