// Package testlab has what the tests of several questions share.
package testlab

import (
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// New returns a lab on tiny.Small.
func New(t testing.TB) *lab.Lab { return lab.New(tiny.Small(), t.TempDir()) }

// Config is a run of two seeds that takes milliseconds.
func Config(l *lab.Lab, stage config.Stages, v model.Variant) config.Config {
	c := config.PresetFor(l.Data.Name, methods.Variant(v)).Config
	c.Stage, c.Seeds, c.Seed, c.Epochs = stage, 2, 5, 4
	return c.With("batch", 16).With("lr", 0.01)
}

// Full is the full protocol of variants.
func Full(l *lab.Lab, variants ...model.Variant) []config.Config {
	configs := make([]config.Config, len(variants))
	for i, v := range variants {
		configs[i] = Config(l, config.DevThenTest, v)
	}
	return configs
}

// Request has settings of a study: those of one run or, for several methods, those that all have and those of
// variants.
func Request(first config.Config, variants ...config.Config) *config.Request {
	r := &config.Request{}
	for _, c := range append([]config.Config{first}, variants...) {
		r.Presets = append(r.Presets, config.Preset{Config: c})
	}
	return r
}

// Ask asks a study, which succeeds.
func Ask[R results.Result](t testing.TB, l *lab.Lab, s results.Study, r *config.Request) R {
	t.Helper()
	return testkit.Must(results.Ask(t.Context(), s, r, l))(t).(R)
}

// Cover makes published numbers those of a data set, by its name, until the end of the test.
func Cover(t testing.TB, d *dataset.Dataset) {
	name := strings.ToLower(d.Name)
	before := config.PublishedDigests[name]
	config.PublishedDigests[name] = config.PublishedDigest(d)
	t.Cleanup(func() { config.PublishedDigests[name] = before })
}

// Text is the text of tables, in which nothing is wrapped.
func Text(tables []*table.Table) string {
	var b strings.Builder
	for _, t := range tables {
		if t != nil {
			b.WriteString(t.Text(1000, 0))
		}
	}
	return b.String()
}

// Stored reads the only stored result of a kind in the folder of a lab into result.
func Stored(t testing.TB, l *lab.Lab, kind string, result any) {
	t.Helper()
	list, missing, err := lab.ReadStored(t.Context(), l.Root)
	testkit.NoError(t, err)
	if len(list) != 1 || len(missing) > 0 || list[0].Kind != kind || list[0].Fingerprint != l.Fingerprint() {
		t.Fatalf("found %+v, unreadable %+v, expected one result of %s", list, missing, kind)
	}
	testkit.NoError(t, list[0].Decode(result))
}
