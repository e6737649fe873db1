// Package docs holds the pages of the documentation, for a program that was installed without them.
package docs

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.md
var files embed.FS

// Names returns the names of the pages, sorted.
func Names() (names []string) {
	found, _ := fs.Glob(files, "*.md") // whose only error is a wrong pattern
	for _, file := range found {
		names = append(names, strings.TrimSuffix(file, ".md"))
	}
	return names
}

// Page returns the Markdown of a page of Names, whose first paragraph begins with the question that it
// answers.
func Page(name string) string {
	text, _ := files.ReadFile(name + ".md") // which is there
	return string(text)
}
