package npy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// parse reads the dictionary of a header, as in
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (7456, 2048), }
//
// Where it can't, it returns what was expected, and what was found instead.
func parse(text string) (h Header, want, got string) {
	p := pythonText{rest: strings.TrimSpace(text)}
	seen := map[string]bool{}
	p.skip("{")
	for p.want == "" && !p.next("}") {
		key := p.quoted()
		p.skip(":")
		if seen[key] {
			p.fail("every key once", key+" again")
		}
		seen[key] = true
		switch key {
		case "descr":
			h.Type = p.kind()
		case "fortran_order":
			h.Fortran = p.boolean()
		case "shape":
			h.Shape = p.tuple()
		default:
			p.fail("the keys descr, fortran_order and shape", strconv.Quote(key))
		}
		if !p.next(",") && !strings.HasPrefix(p.rest, "}") {
			p.fail(`"," or "}"`, p.ahead())
		}
	}
	if p.want == "" && p.rest != "" {
		p.fail("an end", p.ahead())
	}
	if p.want == "" && len(seen) < 3 {
		p.fail("the keys descr, fortran_order and shape", fmt.Sprint(slices.Sorted(maps.Keys(seen))))
	}
	return h, p.want, p.got
}

// pythonText is what is left to read of the text of a header. After a failure it
// reads nothing more.
type pythonText struct {
	rest      string
	want, got string // of the first failure
}

func (p *pythonText) fail(want, got string) {
	if p.want == "" {
		p.want, p.got = want, got
		p.rest = ""
	}
}

// ahead shows what comes next.
func (p *pythonText) ahead() string {
	const most = 20
	if len(p.rest) > most {
		return strconv.Quote(p.rest[:most]) + "..."
	}
	return strconv.Quote(p.rest)
}

// next passes a sign, if that is what comes next.
func (p *pythonText) next(sign string) bool {
	rest, found := strings.CutPrefix(p.rest, sign)
	if found {
		p.rest = strings.TrimLeft(rest, " \t\r\n")
	}
	return found
}

// skip passes a sign that must come next.
func (p *pythonText) skip(sign string) {
	if !p.next(sign) {
		p.fail(strconv.Quote(sign), p.ahead())
	}
}

// quoted reads a string without escapes.
func (p *pythonText) quoted() string {
	for _, quote := range []string{"'", `"`} {
		if !strings.HasPrefix(p.rest, quote) {
			continue
		}
		text, _, found := strings.Cut(p.rest[1:], quote)
		if !found {
			p.fail("an end of the string "+p.ahead(), "none")
			return ""
		}
		p.next(quote + text + quote)
		return text
	}
	p.fail("a string", p.ahead())
	return ""
}

// kind reads the name of a type, or the list of fields of a record.
func (p *pythonText) kind() string {
	if strings.HasPrefix(p.rest, "[") {
		return p.list()
	}
	return p.quoted()
}

// list returns a list as it is written.
func (p *pythonText) list() string {
	text := p.rest
	for depth := 0; p.want == ""; {
		switch {
		case p.rest == "":
			p.fail(`"]"`, p.ahead())
		case strings.ContainsAny(p.rest[:1], `'"`):
			p.quoted() // which may hold brackets
		case p.next("["):
			depth++
		case p.next("]"):
			if depth--; depth == 0 {
				return strings.TrimRight(text[:len(text)-len(p.rest)], " \t\r\n")
			}
		default:
			p.rest = p.rest[1:]
		}
	}
	return ""
}

func (p *pythonText) boolean() bool {
	if p.next("True") {
		return true
	}
	if !p.next("False") {
		p.fail("True or False", p.ahead())
	}
	return false
}

// tuple reads whole numbers in parentheses.
func (p *pythonText) tuple() []int {
	p.skip("(")
	var numbers []int
	for p.want == "" && !p.next(")") {
		end := strings.IndexFunc(p.rest, func(r rune) bool { return r < '0' || r > '9' })
		digits := p.rest[:max(end, 0)]
		n, err := strconv.Atoi(digits)
		if err != nil {
			p.fail("a size of the array", p.ahead())
			break
		}
		numbers = append(numbers, n)
		p.next(digits)
		p.next("L") // Python 2 marks long ones
		if !p.next(",") && !strings.HasPrefix(p.rest, ")") {
			p.fail(`"," or ")"`, p.ahead())
		}
	}
	return numbers
}
