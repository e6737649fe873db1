package download_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lago-train/lago-train/dataset/fetch/internal/download"
)

func ExampleFile() {
	file := strings.NewReader("features and splits")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Unix(1.5e9, 0), file)
	}))
	defer s.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	path := filepath.Join(dir, "archive.zip")
	if err := download.File(context.Background(), s.URL, path, download.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	content, err := os.ReadFile(path)
	fmt.Printf("%s, %v\n", content, err)
	// Output: features and splits, <nil>
}
