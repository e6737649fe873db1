package simulate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

// Spec is the size of a data set. Every number but the seed must be positive.
type Spec struct {
	Name string // "simulated-" comes before it, unless it is there
	Seed uint64

	Samples    int // spread evenly over the classes, at least one each
	Dims       int // of the features
	Attributes int
	Groups     int // the attributes are spread evenly over them

	TrainClasses, ValClasses, TestClasses int
}

// classes is the number of all classes.
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

// Preset returns the specification of that name, and whether there is one.
func Preset(name string) (Spec, bool) {
	for _, s := range presets {
		if s.Name == name {
			return s, true
		}
	}
	return Spec{}, false
}

// Presets returns the names that Preset knows.
func Presets() []string {
	names := make([]string, len(presets))
	for i, s := range presets {
		names[i] = s.Name
	}
	return names
}

// name returns the name of the data set, which says that it is simulated.
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

// maxValues bounds each matrix: more of them would not fit in any machine that
// this may run on, and is a slip of the hand.
const maxValues = min(1<<35, math.MaxInt)

// check returns a *invalid.Error for the first number that no data set can have.
func (s Spec) check() error {
	wrong := func(field, want string, got int) error {
		return &invalid.Error{Where: s.name(), Field: field, Want: want, Got: strconv.Itoa(got)}
	}
	for _, n := range []struct {
		field string
		value int
	}{
		{"samples", s.Samples},
		{"dimensions", s.Dims},
		{"attributes", s.Attributes},
		{"groups", s.Groups},
		{"train classes", s.TrainClasses},
		{"val classes", s.ValClasses},
		{"test classes", s.TestClasses},
	} {
		if n.value < 1 {
			return wrong(n.field, "a positive number", n.value)
		}
		if n.value > maxValues {
			return wrong(n.field, fmt.Sprintf("at most %d", maxValues), n.value)
		}
	}
	if s.Samples < s.classes() {
		return wrong("samples", fmt.Sprintf("at least %d, one for each class", s.classes()), s.Samples)
	}
	if s.Groups > s.Attributes {
		return wrong("groups", fmt.Sprintf("at most %d, the number of attributes", s.Attributes), s.Groups)
	}
	for _, m := range []struct {
		field      string
		rows, cols int
	}{
		{"samples of so many dimensions", s.Samples, s.Dims},
		{"attributes that act on so many dimensions", s.Attributes, s.Dims},
		{"classes described by so many attributes", s.classes(), s.Attributes},
	} {
		if most := maxValues / m.cols; m.rows > most {
			return wrong(m.field, fmt.Sprintf("at most %d", most), m.rows)
		}
	}
	return nil
}
