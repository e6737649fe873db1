package setting_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/testkit"
)

type colour string

const (
	red  colour = "red"
	blue colour = "blue"
)

// chain is words of one letter with + between them.
type chain string

const none chain = "none"

func (c *chain) UnmarshalText(text []byte) error {
	for _, word := range strings.Split(string(text), "+") {
		if len(word) != 1 {
			return &invalid.Error{Want: "letters", Got: invalid.Quote(word)}
		}
	}
	*c = chain(strings.ToLower(string(text)))
	return nil
}

// config has a setting of each kind. Depth applies to blue only.
type config struct {
	Rate   float64
	Depth  int
	Seed   uint64
	Fair   bool
	Name   string
	Colour colour
	Steps  chain
}

func (c *config) Settings() setting.List {
	return setting.List{
		setting.Number("rate", &c.Rate, 0.5, setting.BoundedPositive).Describe("`R` learning rate").In(setting.Training).Try(1, 2.5),
		setting.Whole("depth", &c.Depth, 3, setting.Between(1, 9)).If(c.Colour == blue, "blue"),
		setting.Seed("seed", &c.Seed),
		setting.Switch("fair", &c.Fair, true).Noted("true where it can be"),
		setting.Text("name", &c.Name, "bird", strings.ToLower),
		setting.Choice("colour", &c.Colour, red, red, blue).Try(setting.All(red, blue)...),
		setting.Steps("steps", &c.Steps, none, "letters, or none"),
	}
}

func defaults() *config {
	c := new(config)
	c.Settings().SetDefaults()
	return c
}

func TestList(t *testing.T) {
	c := defaults()
	testkit.Equal(t, "defaults", c, &config{Rate: 0.5, Depth: 3, Fair: true, Name: "bird", Colour: red, Steps: none})
	testkit.NoError(t, c.Settings().Check())
	written := string(testkit.Must(json.Marshal(c.Settings().Used()))(t))
	testkit.Equal(t, "written", written, `{"rate":0.5,"seed":0,"fair":true,"name":"bird","colour":"red","steps":"none"}`)
	c.Depth, c.Rate = 100, 2 // the depth is not used, and so not checked
	testkit.NoError(t, c.Settings().Check())
	c.Settings().Canonical()
	testkit.Equal(t, "canonical depth and rate", []float64{float64(c.Depth), c.Rate}, []float64{3, 2})
	var other struct{ Rate, More float64 }
	c.Settings().CopyTo(setting.List{
		setting.Number("rate", &other.Rate, 0, setting.Positive), setting.Number("more", &other.More, 0, setting.Positive),
	})
	if other.Rate != 2 || other.More != 0 || c.Settings().Has("more") {
		t.Errorf("copied: %+v", other)
	}
}

func read(list setting.List, object []byte) error {
	given, err := setting.ParseJSON(object)
	for _, g := range given {
		err = errors.Join(err, list.Set(g))
	}
	return err
}

// What is written as JSON, or printed and given as flags, is read again.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := &config{
			Rate: rapid.Float64Range(1e-18, 1e18).Draw(t, "rate"), Depth: rapid.IntRange(1, 9).Draw(t, "depth"),
			Seed: rapid.Uint64Max(math.MaxInt64).Draw(t, "seed"), Fair: rapid.Bool().Draw(t, "fair"),
			Name:   rapid.StringMatching(`[a-z"\\é<]{1,9}`).Draw(t, "name"),
			Colour: rapid.SampledFrom([]colour{red, blue}).Draw(t, "colour"),
			Steps:  rapid.SampledFrom([]chain{none, "a", "b+c"}).Draw(t, "steps"),
		}
		testkit.NoError(t, want.Settings().Check())
		data := testkit.Must(json.Marshal(want.Settings()))(t)
		written, typed := defaults(), defaults()
		testkit.NoError(t, read(written.Settings(), data))
		for key, value := range want.Settings().Values() {
			testkit.NoError(t, typed.Settings().Set(setting.Assignment{Key: key, Text: strings.ToUpper(fmt.Sprint(value))}))
		}
		testkit.Equal(t, "written", written, want)
		testkit.Equal(t, "typed", typed, want)
	})
}

func TestRefusals(t *testing.T) {
	for object, want := range map[string]string{
		`{"rate":0}`:          "rate: expected a number from 1e-18 to 1e+18, found \"0\"",
		`{"rate":1e999}`:      "rate: expected a number from 1e-18 to 1e+18, found \"1e999\", which is out of range",
		`{"depth":10}`:        "depth: expected a whole number from 1 to 9, found \"10\"",
		`{"depth":"two"}`:     "depth: expected a whole number from 1 to 9, a JSON number, found string \"two\"",
		`{"colour":"blu"}`:    "colour: expected one of red, blue, found \"blu\". Did you mean blue?",
		`{"steps":"a+bc"}`:    "steps: expected letters, found \"bc\"",
		`{"rat":1}`:           "rat: expected the name of a setting. Did you mean rate?",
		`{"zzzzz":1}`:         "zzzzz: expected one of rate, depth, seed, fair, name, colour, steps",
		`{"rate":1,"rate":2}`: "rate: expected each key once, found it twice",
	} {
		err := read(defaults().Settings(), []byte(object))
		if e := (*invalid.Error)(nil); !errors.As(err, &e) || err.Error() != want {
			t.Errorf("%s: found %v, expected %s", object, err, want)
		}
	}
	twice := setting.List{setting.Choices("colours", new([]colour), nil, red, blue)}.Set(setting.Assignment{Key: "colours", Text: "red,blue,red"})
	testkit.WantError(t, twice, "expected each once, found red twice")
	for want, spoil := range map[string]func(c *config){
		"rate: expected a number from 1e-18 to 1e+18, found NaN": func(c *config) { c.Rate = math.NaN() },
		"depth: expected a whole number from 1 to 9, found 0":    func(c *config) { c.Colour, c.Depth = blue, 0 },
		"steps: expected letters, or none, found A":              func(c *config) { c.Steps = "A" },
	} {
		c := defaults()
		spoil(c)
		if err := c.Settings().Check(); fmt.Sprint(err) != want {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

// A word with commas stands in quotes, as in CSV.
func TestWordsInQuotes(t *testing.T) {
	name := func(text string) (string, error) { return text, nil }
	for text, want := range map[string][]string{
		"a, b":                  {"a", "b"},
		`"x (Linnaeus, 1758)"`:  {"x (Linnaeus, 1758)"},
		`a, "b, c","say ""d"""`: {"a", "b, c", `say "d"`},
		`"a`:                    nil,
		"\"a\"\nb":              nil,
	} {
		var found []string
		err := setting.Several("names", &found, nil, "names", name).Parse(text)
		testkit.Equal(t, text, found, want)
		if want == nil {
			testkit.WantError(t, err, "those with commas or quotes in quotes")
		}
	}
}

func TestRanges(t *testing.T) {
	for _, c := range []struct {
		r       setting.Range
		in, out float64
	}{
		{setting.Positive, math.SmallestNonzeroFloat64, 0},
		{setting.NotNegative, math.MaxFloat64, math.Inf(1)},
		{setting.BoundedWeight, 0, 2e18},
		{setting.Seeds, 100_000, 1e8},
		{setting.Between(2, 3), 3, 4},
	} {
		for x, want := range map[float64]bool{c.in: true, c.out: false, math.NaN(): false} {
			if err := setting.Number("x", &x, 0, c.r).Check(); (err == nil) != want {
				t.Errorf("%s: %g: %v", c.r.Text, x, err)
			}
		}
	}
	var x float64
	for _, text := range []string{"1_0", "0x1p3", "0X_1p3"} {
		testkit.WantError(t, setting.Number("x", &x, 0, setting.Positive).Parse(text), "expected a number above 0, found "+strconv.Quote(text))
	}
	defer func() {
		testkit.Equal(t, "panic", fmt.Sprint(recover()), "setting rate: a string")
	}()
	defaults().Settings()[0].Set("fast")
}
