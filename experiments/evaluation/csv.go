package evaluation

import (
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/train/metrics"
)

// WriteCSV writes all that the tables and pictures are of into a folder, which is
// made where there is none:
//
//	confusion.csv     samples of the row's class that were named the column's
//	samples.csv       how each sample is named: its row in the data set, the column of
//	                  its class in the scores, and the confidence of the best one
//	classes.csv       how each class fares
//	reliability.csv   the bins, as scored and with the temperature
//	coverage.csv      accuracy of the most confident samples, for each number of them
//	seen-unseen.csv   accuracies from one gamma on to the next
//
// Those that there are no numbers for are not written.
func (e *Result) WriteCSV(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		rows [][]string
	}{
		{"confusion.csv", e.confusionRows()},
		{"samples.csv", e.sampleRows()},
		{"classes.csv", e.classRows()},
		{"reliability.csv", e.reliabilityRows()},
		{"coverage.csv", e.coverageRows()},
		{"seen-unseen.csv", e.curveRows()},
	} {
		if len(file.rows) < 2 {
			continue
		}
		err := atomicfile.Write(filepath.Join(dir, file.name), func(w io.Writer) error {
			return csv.NewWriter(w).WriteAll(file.rows)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *Result) confusionRows() [][]string {
	rows := [][]string{append([]string{"true class"}, e.names...)}
	for z, named := range e.confusion {
		row := []string{e.names[z]}
		for _, n := range named {
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, row)
	}
	return rows
}

func (e *Result) sampleRows() [][]string {
	rows := [][]string{{"row", "label", "true class", "named"}}
	for _, t := range e.trusted() {
		rows[0] = append(rows[0], "confidence "+t.name)
	}
	for i, label := range e.scored.Labels {
		at := i
		if e.scored.Rows != nil {
			at = e.scored.Rows[i]
		}
		named := metrics.Argmax(e.scored.Scores.Row(i))
		row := []string{strconv.Itoa(at), strconv.Itoa(label), e.names[label], e.names[named]}
		for _, t := range e.trusted() {
			row = append(row, exact(t.confidence[i]))
		}
		rows = append(rows, row)
	}
	return rows
}

func (e *Result) classRows() [][]string {
	rows := [][]string{{"class", "unseen", "samples", "accuracy"}}
	for _, c := range e.ByClass {
		rows = append(rows, []string{c.Class, strconv.FormatBool(c.Unseen), strconv.Itoa(c.Samples), exact(c.Accuracy)})
	}
	return rows
}

func (e *Result) reliabilityRows() [][]string {
	rows := [][]string{{"probabilities", "low", "high", "samples", "confidence", "accuracy"}}
	for _, t := range e.trusted() {
		for _, b := range t.Reliability {
			rows = append(rows, []string{t.name, exact(b.Low), exact(b.High), strconv.Itoa(b.Samples), exact(b.Confidence), exact(b.Accuracy)})
		}
	}
	return rows
}

func (e *Result) coverageRows() [][]string {
	rows := [][]string{{"probabilities", "samples", "coverage", "accuracy"}}
	for _, t := range e.trusted() {
		for n := 1; n <= t.coverage.Len(); n++ {
			share := float64(n) / float64(t.coverage.Len())
			rows = append(rows, []string{t.name, strconv.Itoa(n), exact(share), exact(t.coverage.Accuracy(n))})
		}
	}
	return rows
}

func (e *Result) curveRows() [][]string {
	rows := [][]string{{"gamma from", "seen", "unseen"}}
	for _, p := range e.curve {
		rows = append(rows, []string{exact(p.Gamma), exact(p.Seen), exact(p.Unseen)})
	}
	return rows
}

// exact writes v so that it is read as the same; infinity as other programs know it.
func exact(v float64) string {
	if math.IsInf(v, -1) {
		return "-inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
