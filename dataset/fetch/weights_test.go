package fetch

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFetchWeights(t *testing.T) {
	content := []byte(strings.Repeat("weights", 1000))
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { whole(content, `"1"`)(w, r) })
	o := options(t, s)
	o.ArchiveURL, o.SHA256 = s.URL+"/model.safetensors", sumOf(content)
	r, err := Fetch(t.Context(), "ResNet50", o)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(o.DataDir, "resnet50.safetensors")
	want := &Result{
		Name: "resnet50", Folder: o.DataDir, Files: []string{"resnet50.safetensors"}, Bytes: 7000,
		Archives: []Archive{{o.ArchiveURL, path, 7000, sumOf(content), true, true}},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(content) {
		t.Errorf("%d bytes: %v", len(got), err)
	}
	_, err = Fetch(t.Context(), "resnet50", o)
	wantError(t, err, path, "exists already. --force replaces it.")
	o.SHA256, o.Force = strings.Repeat("0", 64), true
	_, err = Fetch(t.Context(), "resnet50", o)
	wantError(t, err, "SHA-256", sumOf(content))
	if left := names(t, o.DataDir); !slices.Equal(left, want.Files) {
		t.Errorf("%v is left, expected the earlier file", left)
	}
	o.ArchiveURL = "weights.safetensors"
	_, err = Fetch(t.Context(), "resnet50", o)
	wantError(t, err, "--archive-url", "an http or https address")
	_, err = Fetch(t.Context(), "resnet5", o)
	wantError(t, err, "Did you mean resnet50")
}
