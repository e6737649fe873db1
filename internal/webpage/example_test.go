package webpage_test

import (
	"fmt"
	"strings"

	"github.com/lago-train/lago-train/internal/webpage"
)

func ExampleNew() {
	page := webpage.New("birds", `
{{define "title"}}{{.}}{{end}}
{{define "body"}}<p>a page on {{.}}</p>{{end}}`, "p { color: var(--soft); }\n", nil)
	var b strings.Builder
	fmt.Println(page.Execute(&b, "finches & co"))
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "finches") {
			fmt.Print(line)
		}
	}
	// Output:
	// <nil>
	// <title>finches &amp; co</title>
	// <p>a page on finches &amp; co</p>
}
