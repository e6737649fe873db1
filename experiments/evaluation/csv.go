package evaluation

import (
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train/metrics"
)

// WriteCSV writes the numbers behind the tables and pictures into a folder, which it
// creates if necessary:
//
//	confusion.csv     samples of the row's class that were predicted as the column's
//	samples.csv       per sample: row in the data set, true and predicted class, confidence
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
		err := atomicfile.Write(filepath.Join(dir, file.name), func(w io.Writer) error {
			return csv.NewWriter(w).WriteAll(file.rows)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) confusionRows() [][]string {
	rows := [][]string{append([]string{"true class"}, r.names...)}
	for z, counts := range r.confusion {
		row := []string{r.names[z]}
		for _, n := range counts {
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, row)
	}
	return rows
}

func (r *Result) sampleRows() [][]string {
	rows := [][]string{{"row", "label", "true class", "predicted"}}
	for _, c := range r.calibrations() {
		rows[0] = append(rows[0], "confidence "+c.label)
	}
	for i, label := range r.scored.Labels {
		index := i
		if r.scored.Rows != nil {
			index = r.scored.Rows[i]
		}
		predicted := metrics.Argmax(r.scored.Scores.Row(i))
		row := []string{strconv.Itoa(index), strconv.Itoa(label), r.names[label], r.names[predicted]}
		for _, c := range r.calibrations() {
			row = append(row, exact(c.confidence[i]))
		}
		rows = append(rows, row)
	}
	return rows
}

func (r *Result) classRows() [][]string {
	rows := [][]string{{"class", "unseen", "samples", "accuracy"}}
	for _, c := range r.ByClass {
		rows = append(rows, []string{c.Class, strconv.FormatBool(c.Unseen), strconv.Itoa(c.Samples), exact(c.Accuracy)})
	}
	return rows
}

func (r *Result) reliabilityRows() [][]string {
	rows := [][]string{{"probabilities", "low", "high", "samples", "confidence", "accuracy"}}
	for _, c := range r.calibrations() {
		for _, b := range c.Reliability {
			rows = append(rows, []string{c.label, exact(b.Low), exact(b.High), strconv.Itoa(b.Samples), exact(b.Confidence), exact(b.Accuracy)})
		}
	}
	return rows
}

func (r *Result) coverageRows() [][]string {
	rows := [][]string{{"probabilities", "samples", "coverage", "accuracy"}}
	for _, c := range r.calibrations() {
		for n := 1; n <= c.coverage.Len(); n++ {
			share := float64(n) / float64(c.coverage.Len())
			rows = append(rows, []string{c.label, strconv.Itoa(n), exact(share), exact(c.coverage.Accuracy(n))})
		}
	}
	return rows
}

func (r *Result) curveRows() [][]string {
	rows := [][]string{{"gamma from", "seen", "unseen"}}
	for _, p := range r.curve {
		rows = append(rows, []string{exact(p.Gamma), exact(p.Seen), exact(p.Unseen)})
	}
	return rows
}

// exact returns v in full precision, with -inf as other programs read it.
func exact(v float64) string {
	if math.IsInf(v, -1) {
		return "-inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
