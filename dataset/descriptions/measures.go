package descriptions

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

const (
	numberPattern = `([-+−]?\d[\d.,]*(?:[eE][-+]?\d+)?)`
	unitPattern   = `([\p{L}µ°%"'][\p{L}%²³/.]{0,11})?`
)

var (
	aside       = regexp.MustCompile(`\([^()]*\d[^()]*\)`) // extremes such as (3-) and (8)
	qualifier   = regexp.MustCompile(`^(?:[<>~≈≤≥=]|c\.|ca\.?|about|approx\.?|up to)+\s*`)
	measurement = regexp.MustCompile(`^` + numberPattern + `\s*` + unitPattern +
		`\s*(?:(-|–|—|to|\.\.\.?|±|\+/-)\s*` + numberPattern + `\s*` + unitPattern + `)?$`)
	thousands = regexp.MustCompile(`^[-+−]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$`)
	// A spreadsheet takes 3-5 for a day and writes 3-May or May-3.
	dayOfMonth = regexp.MustCompile(`(?i)^(\d{1,2})[-. ]+(` + months + `)[a-zé]*\.?$`)
	monthOfDay = regexp.MustCompile(`(?i)^(` + months + `)[a-zé]*\.?[- ]+(\d{1,2})$`)
)

const months = `jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez`

// measureOf returns the number in a cell, of a range its middle, with its unit. ok is false for other text.
func measureOf(text string) (v float64, unit string, ok bool) {
	if day, month, ok := spreadsheetRange(text); ok {
		return (day + month) / 2, "", true
	}
	text = strings.TrimSpace(qualifier.ReplaceAllString(strings.TrimSpace(aside.ReplaceAllString(text, " ")),
		""))
	m := measurement.FindStringSubmatch(strings.Join(strings.Fields(text), " "))
	if m == nil {
		return 0, "", false
	}
	first, err := plainNumber(m[1])
	unit = m[2]
	if m[5] != "" {
		unit = m[5]
	}
	if m[4] == "" || err != nil {
		return first, unit, err == nil
	}
	second, err := plainNumber(m[4])
	if m[3] == "±" || m[3] == "+/-" {
		return first, unit, err == nil
	}
	return (first + second) / 2, unit, err == nil && (m[2] == "" || m[2] == unit)
}

// plainNumber reads a number that may have a decimal comma, or commas between thousands.
func plainNumber(text string) (float64, error) {
	text = strings.TrimRight(strings.Replace(text, "−", "-", 1), ",.")
	if thousands.MatchString(text) {
		return strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	}
	return strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
}

// spreadsheetRange returns the numbers of a range that a spreadsheet took for a day.
func spreadsheetRange(text string) (day, month float64, ok bool) {
	name, number := "", ""
	if m := dayOfMonth.FindStringSubmatch(text); m != nil {
		number, name = m[1], m[2]
	} else if m := monthOfDay.FindStringSubmatch(text); m != nil {
		name, number = m[1], m[2]
	} else {
		return 0, 0, false
	}
	name = strings.NewReplacer("mär", "mar", "mai", "may", "okt", "oct", "dez", "dec").
		Replace(strings.ToLower(name))
	day, err := strconv.ParseFloat(number, 64)
	return day, float64(strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", name)/3 + 1), err == nil
}

// units have the dimension and the size of common units.
var units = map[string]struct {
	dimension string
	size      float64
}{
	"nm": {"length", 1e-9}, "µm": {"length", 1e-6}, "μm": {"length", 1e-6}, "um": {"length", 1e-6}, "mm": {"length", 1e-3}, "cm": {"length", 1e-2},
	"dm": {"length", 0.1}, "m": {"length", 1}, "km": {"length", 1e3}, "in": {"length", 0.0254}, "ft": {"length", 0.3048},
	"mg": {"mass", 1e-3}, "g": {"mass", 1}, "kg": {"mass", 1e3}, "t": {"mass", 1e6}, "lb": {"mass", 453.6}, "oz": {"mass", 28.35},
	"ml": {"volume", 1e-3}, "l": {"volume", 1}, "s": {"time", 1}, "min": {"time", 60}, "h": {"time", 3600}, "day": {"time", 86400}, "days": {"time", 86400},
	"weeks": {"time", 604800}, "months": {"time", 2.63e6}, "years": {"time", 3.156e7}, "yr": {"time", 3.156e7}, "%": {"share", 1},
}

// inOneUnit returns the numbers of a column in the unit of most of them. It reports units that cannot be
// compared, and returns nil.
func (r *traitReader) inOneUnit(l *layout, c *column) (values []float64, unit string) {
	values = make([]float64, len(c.cells))
	of, count := make([]string, len(c.cells)), map[string]int{}
	dates := 0
	for i, cell := range c.cells {
		values[i], of[i], _ = measureOf(cell.text)
		if of[i] != "" {
			of[i] = strings.TrimSuffix(of[i], ".")
			count[of[i]]++
			if count[of[i]] > count[unit] {
				unit = of[i]
			}
		}
		if _, _, date := spreadsheetRange(cell.text); date {
			dates++
		}
	}
	const leave = "Write one unit in the whole column, or leave it out."
	if dates == len(c.cells) {
		r.problem(l, c, c.cells[0], "numbers or words", invalid.Quote(c.cells[0].text)+", a date",
			"If a spreadsheet made it of a range such as 3-5, write 3 to 5; otherwise leave the column out.")
		return nil, ""
	}
	to, known := units[unit]
	for i, cell := range c.cells {
		from, ok := units[of[i]]
		switch {
		case of[i] == unit, of[i] == "" && len(count) == 1:
		case ok && known && from.dimension == to.dimension:
			values[i] *= from.size / to.size
		default:
			r.problem(l, c, cell, "numbers in "+unit+", as in other lines", invalid.Quote(cell.text), leave)
			return nil, ""
		}
	}
	return values, unit
}
