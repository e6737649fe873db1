package simulate

import (
	"fmt"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

// Spec is the size of a data set. Every number but the seed must be positive.
type Spec struct {
	Name string // "simulated" is prepended unless the name begins with it
	Seed uint64

	Samples    int // at least one per class; classes have the same number, give or take one
	Dims       int // of the features
	Attributes int
	Groups     int // have the same number of attributes, give or take one

	TrainClasses, ValClasses, TestClasses int
}

func (s Spec) classes() int { return s.TrainClasses + s.ValClasses + s.TestClasses }

// presets have the sizes of the data of Atzmon and Chechik (UAI 2018), with the
// ResNet-101 features and the split of Xian et al. (PAMI 2018).
var presets = []Spec{
	{
		Name: "simulated-cub", Samples: 11788, Dims: 2048, Attributes: 312, Groups: 28,
		TrainClasses: 100, ValClasses: 50, TestClasses: 50,
	},
	{
		Name: "simulated-awa2", Samples: 37322, Dims: 2048, Attributes: 85, Groups: 11,
		TrainClasses: 27, ValClasses: 13, TestClasses: 10,
	},
	{
		Name: "simulated-sun", Samples: 14340, Dims: 2048, Attributes: 102, Groups: 4,
		TrainClasses: 580, ValClasses: 65, TestClasses: 72,
	},
}

// Preset returns the specification of a name, and whether there is one.
func Preset(name string) (Spec, bool) {
	for _, s := range presets {
		if s.Name == name {
			return s, true
		}
	}
	return Spec{}, false
}

// Presets returns the names of all presets.
func Presets() []string {
	names := make([]string, len(presets))
	for i, s := range presets {
		names[i] = s.Name
	}
	return names
}

func (s Spec) name() string {
	const prefix = "simulated"
	switch {
	case s.Name == "":
		return prefix
	case strings.HasPrefix(s.Name, prefix):
		return s.Name
	default:
		return prefix + "-" + s.Name
	}
}

// check returns an *invalid.Error for the first impossible number.
func (s Spec) check() error {
	for _, n := range []struct {
		field string
		value int
		least int
	}{
		{"dimensions", s.Dims, 1},
		{"groups", s.Groups, 1},
		{"attributes", s.Attributes, s.Groups},
		{"train classes", s.TrainClasses, 1},
		{"val classes", s.ValClasses, 1},
		{"test classes", s.TestClasses, 1},
		{"samples", s.Samples, s.classes()},
	} {
		if n.value < n.least {
			return &invalid.Error{Where: s.name(), Field: n.field, Want: fmt.Sprintf("at least %d", n.least), Got: fmt.Sprint(n.value)}
		}
	}
	return nil
}
