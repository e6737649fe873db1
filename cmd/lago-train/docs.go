package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"

	"golang.org/x/term"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/docs"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
)

// docsCommand prints a page, or without one all names with what the pages answer.
func docsCommand() *cli.Command {
	return &cli.Command{Name: "docs", ArgsUsage: "[PAGE]", Action: func(c *cli.Context) error {
		if !c.Args().Present() {
			return listPages(c.App.Writer)
		}
		name, err := invalid.OneOf(strings.TrimSuffix(path.Base(strings.Join(c.Args().Slice(), " ")), ".md"),
			docs.Names()...)
		if err != nil {
			return usageAt(c.Command.HelpName, err)
		}
		page, err := docs.Page(name)
		if err != nil {
			return err
		}
		if term.IsTerminal(int(os.Stdout.Fd())) {
			page = forTerminal(page, table.Colours(os.Stdout))
		}
		_, err = io.WriteString(c.App.Writer, page)
		return err
	}}
}

func listPages(w io.Writer) error {
	for _, name := range docs.Names() {
		page, err := docs.Page(name)
		if err != nil {
			return err
		}
		question, _, _ := strings.Cut(strings.SplitN(page, "\n\n", 3)[1], "?")
		if _, err := fmt.Fprintf(w, "%-20s %s?\n", name,
			format.Wrap(strings.ReplaceAll(question, "\n", " "), helpWidth, 21)); err != nil {
			return err
		}
	}
	return nil
}

var (
	pageHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	pageTable   = regexp.MustCompile(`(?m)^\|.*\n\|[-| :]+\|\n(\|.*\n)*`)
	pageLink    = regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`)
)

// forTerminal returns a page with its tables drawn, and its headings in bold.
func forTerminal(page string, bold bool) string {
	page = pageLink.ReplaceAllString(page, "$1")
	page = pageTable.ReplaceAllStringFunc(page, func(text string) string {
		var rows [][]string
		for line := range strings.Lines(text) {
			cells := strings.Split(strings.ReplaceAll(strings.Trim(strings.TrimSpace(line), "|"), `\|`,
				"\x00"), "|")
			for i := range cells {
				cells[i] = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", "|"),
					"<br>", "; ")
			}
			rows = append(rows, cells)
		}
		t := table.New("", rows[0]...)
		for _, cells := range rows[2:] {
			of := make([]any, len(cells))
			for i := range cells {
				of[i] = cells[i]
			}
			t.Row(of...)
		}
		return t.Text(max(display.width(), helpWidth), 0)
	})
	if bold {
		page = pageHeading.ReplaceAllString(page, table.Bold+"$1"+table.Plain)
	}
	return page
}
