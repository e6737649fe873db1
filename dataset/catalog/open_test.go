package catalog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/internal/invalid"
)

// mini is a small data set in the xlsa17 layout.
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

func TestOpenPrefersTheExactSpelling(t *testing.T) {
	root := t.TempDir()
	copyMini(t, root, "Mini")
	copyMini(t, root, "MINI")
	source := func(name string) string {
		d, err := catalog.Open(t.Context(), name, catalog.Options{DataDir: root, NoCache: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return ""
		}
		return filepath.Base(d.Source)
	}
	if _, err := catalog.Open(t.Context(), "mini", catalog.Options{DataDir: root, NoCache: true}); err == nil || !strings.Contains(err.Error(), "MINI and Mini") {
		t.Errorf("two folders that differ by case: error %v", err)
	}
	copyMini(t, root, "mini")
	for name, want := range map[string]string{"mini": "mini", "MINI": "MINI", "Mini": "Mini", "mINI": "mini"} {
		if got := source(name); got != want {
			t.Errorf("%s is read from %s", name, got)
		}
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

func TestUnknownNames(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"SUN", "pets"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	here := t.TempDir()
	t.Setenv(catalog.EnvDataDir, here)
	const generated = "expected glyphs, simulated-cub, simulated-awa2, simulated-sun, or a folder of this name in "
	for _, c := range []struct{ name, dir, want string }{
		{"pest", root, `data set "pest": ` + generated + root + ", found none. Did you mean pets?"},
		{"simulated", root, "Did you mean simulated-cub or simulated-awa2 or simulated-sun?"},
		{"AWA", root, "Did you mean awa2?"},
		{"zoo", root, "found none. The folder has SUN, pets."},
		{"zoo", root + "/none", "found none. The folder " + root + "/none does not exist; --data-dir or $LAGO_DATA names another."},
		{"CUB", "", "found none. To download it: lago-train dataset fetch cub"},
		{"cub", here, "found none. To download it: lago-train dataset fetch cub"},
		{"cub", root + "/none", "found none. To download it: lago-train dataset fetch --data-dir " + root + "/none cub"},
	} {
		_, err := catalog.Open(t.Context(), c.name, catalog.Options{DataDir: c.dir})
		if !errors.As(err, new(*invalid.Error)) || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %s", c.name, err, c.want)
		}
	}
}

func TestOpenGeneratesGlyphs(t *testing.T) {
	d, err := catalog.Open(t.Context(), "Glyphs", catalog.Options{})
	if err != nil || d.Name != "glyphs" {
		t.Fatalf("glyphs: %v", err)
	}
}
