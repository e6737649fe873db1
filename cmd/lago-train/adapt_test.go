package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/evaluation"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
)

func TestAdapt(t *testing.T) {
	data := onMini(t)
	dir := trained(t, data...)
	args := func(command string, more ...string) []string {
		return append(append([]string{command, "--model", dir}, data...), more...)
	}
	const none = "adaptation: expected a temperature and tau"
	refuses(t, args("predict", "--adapt"), none, "--stage full")
	refuses(t, args("evaluate", "--adapt"), none, "no finished run of the dev stage")
	refuses(t, args("explain", "--sample", "0", "--adapt"), none)

	before := succeeds(t, args("predict", "--format", "csv")...)
	path := filepath.Join(dir, train.ModelFile)
	set := func(tau float64) {
		t.Helper()
		m, err := train.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		m.Adaptation = &train.Adaptation{Settings: adapt.Settings{Temperature: 1, Tau: tau}, Smallest: 10_000}
		if err := train.Save(path, m); err != nil {
			t.Fatal(err)
		}
	}
	set(60)
	if after := succeeds(t, args("predict", "--format", "csv")...); after != before {
		t.Error("the settings change predictions without --adapt")
	}
	e := lagoTrain(t, args("predict", "--format", "csv", "--adapt")...)
	if e.code != 0 || len(records(t, e.stdout)) != len(records(t, before)) {
		t.Errorf("ended with %d:\n%s", e.code, e.stdout)
	}
	for _, part := range []string{"adapted to ", "estimated share", "seem to be absent", "is small: on the validation classes adaptation helped from 10000 samples"} {
		if !strings.Contains(e.stderr, part) {
			t.Errorf("stderr doesn't say %q:\n%s", part, e.stderr)
		}
	}
	misused(t, args("predict", "--adapt", "--temperature", "2"), "--temperature: expected no --temperature beside --adapt")

	var r evaluation.Result
	decode(t, succeeds(t, args("evaluate", "--adapt", "--json")...), &r)
	if r.Adapted == nil || r.Adapted.Tau != 60 || r.Adapted.PerClass < 0 || r.Adapted.PerClass > 1 {
		t.Errorf("%+v", r.Adapted)
	}
	misused(t, args("evaluate", "--stress", "3"), "--stress: expected --adapt beside it")
	if text := succeeds(t, args("explain", "--sample", "0", "--adapt")...); !strings.Contains(text, "Adapted to ") {
		t.Error(text)
	}

	set(0)
	e = lagoTrain(t, args("predict", "--format", "csv", "--adapt")...)
	if e.stdout != before || !strings.Contains(e.stderr, "adaptation is off") {
		t.Errorf("switched off it predicts otherwise, or does not say so:\n%s", e.stderr)
	}
}
