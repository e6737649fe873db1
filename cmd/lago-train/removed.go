package main

import (
	"errors"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

// removed has what earlier versions had and this one refuses, with what to use instead: commands,
// flags, values of flags, and names of data sets, each as it was typed after the program's name.
var removed = map[string]string{
	"ablate --groups": "Give compare --methods semantic-hard,singletons, also on a " +
		"copy of the data set with shuffled groups.",
	"compare --adapt":      "lago-train run chooses an adaptation, and evaluate --adapt measures it.",
	"compare --drawn":      "A search starts from the defaults, which --config and --set change.",
	"compare --partitions": "Repeat the command with --rotate-seed 1, --rotate-seed 2 and so on.",
	"dataset convert": "lago-train docs xlsa17 has the lines of Python that write " +
		".mat files as CSV files.",
	"dataset describe --groups": "dataset describe --order prints the groups that tell most first.",
	"dataset describe --prompt": "Ask for a table that dataset describe --from reads.",
	"dataset extract --boxes":   cropFirst,
	"dataset fetch --archive-url": "Save the archive as xlsa17.zip, or weights as NETWORK.safetensors, " +
		"in the data directory.",
	"dataset fetch --download-dir": "Archives are in the data directory: move xlsa17.zip there.",
	"dataset fetch --force":        "Remove the folder or file that is there.",
	"dataset fetch --meta-url":     "Save the archive as LAGO.zip in the data directory.",
	"dataset fetch --sha256":       "Write the sum to FILE.sha256 beside the file, as sha256sum writes it.",
	"dataset group": "lago-train docs your-data has the lines of scikit-learn " +
		"that group photographs.",
	"dataset info": "lago-train dataset check prints the sizes, and dataset list " +
		"--json has them.",
	"dataset split --own": "lago-train dataset split NAME --check DIR/splits.csv checks " +
		"the split of a folder.",
	"evaluate --figures":    "Draw the numbers of --json and --csv in Python.",
	"evaluate --index-from": scoresElsewhere,
	"evaluate --labels":     scoresElsewhere,
	"evaluate --scores":     scoresElsewhere,
	"evaluate --split gzsl": "Give --candidates all.",
	"evaluate --unknown":    "The column fit of predict says which samples are of none of the candidates.",
	"evaluate --unseen":     scoresElsewhere,
	"evaluate --val-labels": scoresElsewhere,
	"evaluate --val-scores": scoresElsewhere,
	"evaluate --val-unseen": scoresElsewhere,
	"explain --boxes":       cropFirst,
	"init": "lago-train dataset extract NAME --images DIR, and then the " +
		"command that each one prints as the next.",
	"partial": "lago-train docs describing-classes has what fewer described " +
		"entries cost.",
	"predict --boxes":              cropFirst,
	"predict --format jsonl":       "Give --format csv: pandas.read_csv reads it.",
	"report --format csv":          "The command that stored a result prints its numbers with --json.",
	"report --format pdf":          "Print the page to PDF in a browser.",
	"run --dataset simulated-awa2": realInstead,
	"run --dataset simulated-cub":  realInstead,
	"run --dataset simulated-sun":  realInstead,
	"runs --yes":                   "Delete the folder of the run.",
	"runs rm":                      "Delete the folder of the run.",
	"runs show": "trial.json, result.json and curve.jsonl in the folder of " +
		"the run have what it printed.",
	"subsets": "lago-train docs describing-classes has what fewer classes, " +
		"samples, groups and entries cost.",
}

const scoresElsewhere = "In Python, sklearn.metrics.balanced_accuracy_score(labels, " +
	"scores.argmax(1)) is the per-class accuracy."

const cropFirst = "Crop the photographs first: lago-train docs features has the lines of Python."

const realInstead = "glyphs is generated, and lago-train dataset fetch downloads the real data " +
	"of cub, awa2 and sun."

// replacing adds to an error of a command line what to use instead of typed words, if they were removed.
func replacing(command string, err error, typed ...string) error {
	line := strings.Join(append(strings.Fields(command)[1:], typed...), " ")
	e := (*invalid.Error)(nil)
	if instead := removed[line]; instead != "" && errors.As(err, &e) {
		e.Hint = instead
	}
	return err
}
