package summary

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// lineWidth is where the list of a group's attributes goes on in the next line.
const lineWidth = 100

// WriteText writes s as plain text with aligned tables.
func (s Summary) WriteText(w io.Writer) error {
	var b bytes.Buffer
	s.writeHead(&b)
	s.writeParts(&b)
	s.writeGroups(&b)
	s.writeClasses(&b)
	_, err := w.Write(b.Bytes())
	return err
}

func (s Summary) writeHead(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s: %d samples of %d classes, %d features each\n", s.Name, s.Samples, len(s.Classes), s.Dimensions)
	fmt.Fprintf(b, "source       %s\n", s.Source)
	fmt.Fprintf(b, "fingerprint  %s\n", s.Fingerprint)
	fmt.Fprintf(b, "descriptions of every class by %d attributes", s.Attributes)
	if len(s.Groups) > 0 {
		fmt.Fprintf(b, " in %d groups", len(s.Groups))
	} else {
		b.WriteString(", whose groups are unknown")
	}
	if s.Undescribed > 0 {
		fmt.Fprintf(b, "; entries not described: %d", s.Undescribed)
	}
	b.WriteByte('\n')
}

func (s Summary) writeParts(b *bytes.Buffer) {
	b.WriteString("\nPart    Classes  Samples  Samples per class: min  median  max\n")
	for _, p := range s.Parts {
		fmt.Fprintf(b, "%-6s %8d %8d %23d %7g %4d\n", p.Name, p.Classes, p.Samples, p.Min, p.Median, p.Max)
	}
}

func (s Summary) writeGroups(b *bytes.Buffer) {
	if len(s.Groups) == 0 {
		return
	}
	b.WriteString("\nGroups and their attributes\n")
	for _, g := range s.Groups {
		fmt.Fprintf(b, "%s (%d)\n", g.Name, len(g.Attributes))
		line := "   "
		for i, name := range g.Attributes {
			name = strings.TrimPrefix(name, g.Name+"::")
			if i < len(g.Attributes)-1 {
				name += ","
			}
			if len(line)+1+len(name) > lineWidth && strings.TrimSpace(line) != "" {
				b.WriteString(line + "\n")
				line = "   "
			}
			line += " " + name
		}
		b.WriteString(line + "\n")
	}
}

func (s Summary) writeClasses(b *bytes.Buffer) {
	const heading = "Class"
	width := len(heading)
	for _, c := range s.Classes {
		width = max(width, utf8.RuneCountInString(c.Name))
	}
	fmt.Fprintf(b, "\n%-*s  Part   Samples  Attributes described\n", width, heading)
	for _, c := range s.Classes {
		part := c.Part
		if part == "" {
			part = "-"
		}
		fmt.Fprintf(b, "%-*s  %-5s %8d %21d\n", width, c.Name, part, c.Samples, c.Described)
	}
}
