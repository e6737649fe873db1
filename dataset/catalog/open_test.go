package catalog_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/internal/invalid"
)

// mini is the small data set in the layout of xlsa17.
var mini = func() string {
	path, err := filepath.Abs("../xlsa17/testdata/plain") // tests change the folder
	if err != nil {
		panic(err)
	}
	return path
}()

// copyMini copies the small data set to root/name.
func copyMini(t *testing.T, root, name string) {
	t.Helper()
	if err := os.CopyFS(filepath.Join(root, name), os.DirFS(mini)); err != nil {
		t.Fatal(err)
	}
}

func TestOpenFindsAFolderInAnyCase(t *testing.T) {
	for _, c := range []struct{ folder, name string }{{"MINI", "mini"}, {"mini", "MINI"}, {"MiNi", "mInI"}} {
		root := t.TempDir()
		copyMini(t, root, c.folder)
		d, err := catalog.Open(t.Context(), c.name, catalog.Options{DataDir: root, NoCache: true})
		if err != nil {
			t.Fatalf("%s in %s: %v", c.name, c.folder, err)
		}
		if d.Name != "mini" {
			t.Errorf("%s in %s: named %q, expected the folder's name in lower case", c.name, c.folder, d.Name)
		}
	}
}

func TestOpenPrefersTheExactNameAndRefusesTwoOthers(t *testing.T) {
	root := t.TempDir()
	copyMini(t, root, "Mini")
	copyMini(t, root, "MINI")
	var e *invalid.Error
	if _, err := catalog.Open(t.Context(), "mini", catalog.Options{DataDir: root, NoCache: true}); !errors.As(err, &e) || !strings.Contains(err.Error(), "MINI and ") {
		t.Errorf("two folders that differ by case: error %v", err)
	}
	copyMini(t, root, "mini")
	d, err := catalog.Open(t.Context(), "mini", catalog.Options{DataDir: root, NoCache: true})
	if err != nil || filepath.Base(d.Source) != "mini" {
		t.Errorf("with one that is spelt like the name: %v from %s", err, d.Source)
	}
}

func TestOpenTakesTheDataDirOfTheEnvironment(t *testing.T) {
	root := t.TempDir()
	copyMini(t, root, "mini")
	t.Setenv(catalog.EnvDataDir, root)
	if _, err := catalog.Open(t.Context(), "mini", catalog.Options{NoCache: true}); err != nil {
		t.Errorf("from $%s: %v", catalog.EnvDataDir, err)
	}
	t.Setenv(catalog.EnvDataDir, "")
	t.Chdir(root)
	if err := os.Mkdir("data", 0o755); err != nil {
		t.Fatal(err)
	}
	copyMini(t, filepath.Join(root, "data"), "other")
	if _, err := catalog.Open(t.Context(), "other", catalog.Options{NoCache: true}); err != nil {
		t.Errorf("from ./data: %v", err)
	}
}

func TestMissingSaysWhatToDo(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "SUN"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := catalog.Open(t.Context(), "awa2", catalog.Options{DataDir: root})
	var m *catalog.Missing
	if !errors.As(err, &m) {
		t.Fatalf("error %v, expected a *Missing", err)
	}
	for _, want := range []string{
		`"awa2"`, root, "there are: SUN", filepath.Join(root, "AWA2"), "res101.mat", "att_splits.mat", "testclasses.txt", "features.npy", "labels.csv", "splits.csv", "docs/your-data.md",
		"--data-dir", "$LAGO_DATA", "Xian", "github.com/yuvalatzmon/LAGO", "glyphs", "simulated-awa2",
		"lago-train dataset fetch --data-dir " + root + " awa2",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not mention %s:\n%v", want, err)
		}
	}
	_, err = catalog.Open(t.Context(), "awa2", catalog.Options{DataDir: filepath.Join(root, "nowhere")})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("without a data dir: error %v", err)
	}
}

func TestMissingSaysHowToFetchWhatIsPublished(t *testing.T) {
	root := t.TempDir()
	t.Setenv(catalog.EnvDataDir, root)
	for _, c := range []struct {
		name, dir, want string
		fetched         bool
	}{
		{"SUN", "", "downloads it:  lago-train dataset fetch sun\n", true},
		{"cub", root, "downloads it:  lago-train dataset fetch cub\n", true},
		{"cub", root + "/other", "downloads it:  lago-train dataset fetch --data-dir " + root + "/other cub\n", true},
		{"mine", "", "lago-train dataset fetch cub|awa2|sun gets both", false},
	} {
		_, err := catalog.Open(t.Context(), c.name, catalog.Options{DataDir: c.dir})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "downloads it") != c.fetched {
			t.Errorf("%s in %q: the error doesn't say %q:\n%v", c.name, c.dir, c.want, err)
		}
	}
}

func TestOpenMakesGlyphs(t *testing.T) {
	d, err := catalog.Open(t.Context(), "Glyphs", catalog.Options{})
	if err != nil || d.Name != "glyphs" {
		t.Fatalf("glyphs: %v", err)
	}
}
