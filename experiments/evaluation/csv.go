package evaluation

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train/metrics"
)

// WriteCSV writes the numbers behind the tables and figures into a folder, which it
// creates if necessary:
//
//	confusion.csv     samples of the row's class that were predicted as the column's
//	samples.csv       per sample: row in the data set, true and predicted class, confidence, id if known
//	classes.csv       accuracy of each class
//	reliability.csv   the bins, without and with the temperature
//	coverage.csv      accuracy of the most confident samples, by their number
//	seen-unseen.csv   accuracies between one gamma and the next
//
// Files without numbers are not written.
func (r *Result) WriteCSV(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return invalid.File(dir, err)
	}
	for _, file := range []struct {
		name string
		rows [][]string
	}{
		{"confusion.csv", r.confusionRows()},
		{"samples.csv", r.sampleRows()},
		{"classes.csv", r.classRows()},
		{"reliability.csv", r.reliabilityRows()},
		{"coverage.csv", r.coverageRows()},
		{"seen-unseen.csv", r.curveRows()},
	} {
		if len(file.rows) < 2 {
			continue
		}
		if err := atomicfile.WriteCSV(filepath.Join(dir, file.name), file.rows); err != nil {
			return err
		}
	}
	return nil
}

func row(cells ...any) []string {
	list := make([]string, len(cells))
	for i, cell := range cells {
		list[i] = fmt.Sprint(cell)
	}
	return list
}

func (r *Result) confusionRows() [][]string {
	rows := [][]string{append([]string{"true class"}, r.names...)}
	for z, counts := range r.confusion {
		cells := []string{r.names[z]}
		for _, n := range counts {
			cells = append(cells, strconv.Itoa(n))
		}
		rows = append(rows, cells)
	}
	return rows
}

func (r *Result) sampleRows() [][]string {
	rows := [][]string{{"row", "label", "true class", "predicted"}}
	for i, label := range r.scored.Labels {
		index := i
		if r.scored.Rows != nil {
			index = r.scored.Rows[i]
		}
		rows = append(rows, row(index, label, r.names[label], r.names[metrics.Argmax(r.scored.Scores.Row(i))]))
	}
	for _, c := range r.calibrations() {
		rows[0] = append(rows[0], "confidence "+c.label)
		for i, v := range c.confidence {
			rows[1+i] = append(rows[1+i], fmt.Sprint(v))
		}
	}
	if r.scored.IDs != nil {
		rows[0] = append(rows[0], "id")
		for i, row := range r.scored.Rows {
			rows[1+i] = append(rows[1+i], r.scored.IDs[row])
		}
	}
	return rows
}

func (r *Result) classRows() [][]string {
	rows := [][]string{{"class", "unseen", "samples", "accuracy"}}
	for _, c := range r.ByClass {
		rows = append(rows, row(c.Class, c.Unseen, c.Samples, c.Accuracy))
	}
	return rows
}

func (r *Result) reliabilityRows() [][]string {
	rows := [][]string{{"probabilities", "low", "high", "samples", "confidence", "accuracy"}}
	for _, c := range r.calibrations() {
		for _, b := range c.Reliability {
			rows = append(rows, row(c.label, b.Low, b.High, b.Samples, b.Confidence, b.Accuracy))
		}
	}
	return rows
}

func (r *Result) coverageRows() [][]string {
	rows := [][]string{{"probabilities", "samples", "coverage", "accuracy"}}
	for _, c := range r.calibrations() {
		samples := c.coverage.Len()
		for n := 1; n <= samples; n++ {
			rows = append(rows, row(c.label, n, float64(n)/float64(samples), c.coverage.Accuracy(n)))
		}
	}
	return rows
}

func (r *Result) curveRows() [][]string {
	rows := [][]string{{"gamma from", "seen", "unseen"}}
	for _, p := range r.curve {
		rows = append(rows, row(p.Gamma, p.Seen, p.Unseen))
	}
	return rows
}
