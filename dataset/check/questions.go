package check

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/impute"
)

// Questionnaire is the order in which a class that is not described yet is best described: each question
// tells most, for each of its entries, of what those before it leave open. Its JSON keys are stable.
type Questionnaire struct {
	Groups     []Question `json:"groups"`     // asked whole; empty without groups
	Attributes []Question `json:"attributes"` // asked one by one
	Measured   bool       `json:"measured"`   // false: the order is that of the file
	Whole      bool       `json:"whole"`      // false: there are too many entries to measure the order
}

// Question is a group or an attribute. Its JSON keys are stable.
type Question struct {
	Name    string `json:"name"`
	Entries int    `json:"entries"` // of this question and those before it
	// Explained is the share of the scaled variance of all attributes that this question and those before it
	// explain, see impute.Gaussian.Order; null if it was not measured.
	Explained *float64 `json:"explained"`
}

// leastOrdered is the number of described classes from which their entries say how attributes go together.
const leastOrdered = 10

// NewQuestionnaire returns that of a table.
func NewQuestionnaire(t *descriptions.Table) Questionnaire {
	u, described := t.Values(), 0
	for z := range u.Rows {
		for _, p := range u.Row(z) {
			if !math.IsNaN(p) {
				described++
				break
			}
		}
	}
	groups := t.Groups()
	q := Questionnaire{Groups: []Question{}, Attributes: []Question{}, Whole: impute.Together(u)}
	q.Measured = described >= leastOrdered && q.Whole
	var g *impute.Gaussian
	if q.Measured {
		g = impute.Fit(u)
	}
	order := func(sets [][]int, name func(k int) string) (list []Question) {
		entries := 0
		add := func(k int, explained *float64) {
			entries += len(sets[k])
			list = append(list, Question{name(k), entries, explained})
		}
		if g == nil {
			for k := range sets {
				add(k, nil)
			}
			return list
		}
		for _, o := range g.Order(sets) {
			add(o.Index, &o.Explained)
		}
		return list
	}
	var members, single [][]int
	for _, group := range groups {
		members = append(members, group.Members)
	}
	for m := range t.Attributes {
		single = append(single, []int{m})
	}
	if len(groups) > 1 || len(groups) == 1 && groups[0].Name != "" {
		q.Groups = order(members, func(k int) string { return groups[k].Name })
	}
	q.Attributes = append(q.Attributes, order(single, func(m int) string { return t.Attributes[m].Name })...)
	return q
}

// Rows are the questions as lines of CSV.
func (q Questionnaire) Rows() [][]string {
	rows := [][]string{{"kind", "name", "entries", "explained"}}
	add := func(kind string, list []Question) {
		for _, of := range list {
			explained := ""
			if of.Explained != nil {
				explained = fmt.Sprintf("%.4f", *of.Explained)
			}
			rows = append(rows, []string{kind, of.Name, fmt.Sprint(of.Entries), explained})
		}
	}
	add("group", q.Groups)
	add("attribute", q.Attributes)
	return rows
}
