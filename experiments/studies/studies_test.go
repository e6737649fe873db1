package studies

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

// The help, the documentation and the maps name each study, and no kind of results is of two.
func TestTextsNameEveryStudy(t *testing.T) {
	help, doc, contributing, files := testkit.Read(t, "../../cmd/lago-train/help.txt"), testkit.Read(t, "doc.go"), testkit.Read(t, "../../CONTRIBUTING.md"), testkit.Read(t, "../../docs/files.md")
	var names []string
	for _, s := range Studies {
		path := strings.Split(reflect.TypeOf(s.New()).Elem().PkgPath(), "/")
		pkg := path[len(path)-1]
		testkit.WantText(t, help, "\n# lago-train "+s.Command+"\n")
		testkit.WantText(t, doc, "//\t"+pkg+" ")
		testkit.WantText(t, contributing, pkg)
		for _, k := range s.Kinds {
			if !strings.HasPrefix(k.Command+" ", s.Command+" ") || k.Title == "" || k.Text == "" || slices.Contains(names, k.Name) {
				t.Errorf("%s: %+v", s.Command, k)
			}
			names = append(names, k.Name)
			testkit.WantText(t, files, k.Name)
		}
	}
}
