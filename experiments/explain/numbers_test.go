package explain

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/model"
)

func TestProbability(t *testing.T) {
	for _, c := range []struct {
		p    float64
		want string
	}{{0, "0.000"}, {1e-9, "< 0.001"}, {0.0012, "0.001"}, {0.25, "0.250"}, {0.9991, "> 0.999"}, {1, "1.000"}} {
		if got := probability(c.p); got != c.want {
			t.Errorf("%g is %q, expected %q", c.p, got, c.want)
		}
	}
}

func TestOdds(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		want  string
	}{{1, "1.0 to 1"}, {2.24, "2.2 to 1"}, {1 / 2.24, "2.2 to 1"}, {10.4, "10 to 1"}, {1e7, "over a million to 1"}} {
		if got := odds(math.Log(c.ratio)); got != c.want {
			t.Errorf("%g is %q, expected %q", c.ratio, got, c.want)
		}
	}
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 112: "112th", 122: "122nd"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d is %q, expected %q", n, got, want)
		}
	}
}

// What is told of a group: at most six attributes that matter, those that are
// described most first; what is left in one line, where it matters; and none of them,
// where there is a complement.
func TestRows(t *testing.T) {
	term := func(name string, used, share float64) Term {
		return Term{Attribute: name, Gamma: 1, Used: Pair{Class: used}, Share: Pair{Class: share}}
	}
	g := Group{
		Terms: []Term{
			term("carries", 0.05, 0.3), term("described", 0.5, 0), term("neither", 0.09, 0.04), term("most", 0.9, 0.2),
			term("c", 0.2, 0), term("d", 0.3, 0), term("e", 0.4, 0), term("seventh", 0.8, 0.01),
		},
		Others: Others{Count: 3, Share: Pair{Class: 0.02, Against: 0.1}},
		None:   None{Seen: 0.4, Share: Pair{Class: 0.43}},
	}
	x := &Explanation{Complement: model.DeMorgan}
	names := func() (list []string) {
		for _, r := range x.rows(g) {
			list = append(list, r.Name)
		}
		return list
	}
	want := []string{"most", "described", "e", "d", "c", "carries", "all others", "none of them"}
	if diff := cmp.Diff(want, names()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	rows := x.rows(g)
	closeTo(t, "share of all others", rows[6].Share.Class, 0.04+0.01+0.02)
	closeTo(t, "share of all others, of the other class", rows[6].Share.Against, 0.1)
	if *rows[7].Seen != 0.4 {
		t.Errorf("none of them is seen with %g", *rows[7].Seen)
	}

	x.Complement = model.Const
	if last := x.rows(g)[7]; last.Name != "none of them" || last.Seen != nil {
		t.Errorf("a constant complement is told as %+v", last)
	}
	x.Complement = model.NoComplement
	if last := x.rows(g)[6]; last.Name != "all others" || len(x.rows(g)) != 7 {
		t.Errorf("without a complement the last row is %+v", last)
	}
	g.Terms, g.Others = g.Terms[:1], Others{Count: 300, Share: Pair{Class: 0.004}}
	if diff := cmp.Diff([]string{"carries"}, names()); diff != "" {
		t.Errorf("others that hardly matter (-want +got):\n%s", diff)
	}
}

func TestTitleOfATermTellsWhatTheGroupHasOfIt(t *testing.T) {
	g := Group{Name: "has_size"}
	for gamma, want := range map[float64]string{1: "small", 0.9988: "small", 0.5: "small (50 % of it)"} {
		if got := (Term{Attribute: "has_size::small", Gamma: gamma}).title(g); got != want {
			t.Errorf("with a Gamma of %g: %q, expected %q", gamma, got, want)
		}
	}
}
