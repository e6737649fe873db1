package lab

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

// Shard is the part of a grid that one process of several trains: the trials whose
// index is Index modulo Count. The zero value is the whole grid.
type Shard struct{ Index, Count int }

// ParseShard reads "i/n", i from 0 to n-1.
func ParseShard(s string) (Shard, error) {
	index, count, ok := strings.Cut(s, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if !ok || err1 != nil || err2 != nil || i < 0 || i >= n {
		return Shard{}, &invalid.Error{Want: "I/N with I from 0 to N-1", Got: invalid.Quote(s)}
	}
	return Shard{i, n}, nil
}

// ShardFromEnvironment returns the shard that Slurm or Kubernetes assigns to this process:
// SLURM_ARRAY_TASK_ID of SLURM_ARRAY_TASK_COUNT, counted from SLURM_ARRAY_TASK_MIN, or JOB_COMPLETION_INDEX
// of JOB_COMPLETIONS, which the manifest of an Indexed Job sets beside it. Without them it is the whole grid.
//
// from names the variable.
func ShardFromEnvironment() (s Shard, from string, err error) {
	index, count, least := "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"
	if os.Getenv(index) == "" {
		index, count, least = "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", ""
	}
	if os.Getenv(index) == "" {
		return Shard{}, "", nil
	}
	var numbers [3]int
	for i, name := range []string{index, count, least} {
		text := os.Getenv(name)
		if name == least && text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return Shard{}, "", &invalid.Error{
				Where: "$" + name, Want: "a number", Got: invalid.Quote(text),
				Hint: "Set it to a number, or give --shard I/N: " + everything,
			}
		}
		numbers[i] = n
	}
	s = Shard{numbers[0] - numbers[2], numbers[1]}
	if s.Index < 0 || s.Index >= s.Count {
		return Shard{}, "", &invalid.Error{
			Where: "$" + index, Want: fmt.Sprintf("an index of the %d shards of $%s", s.Count, count),
			Got: os.Getenv(index), Hint: "Or give --shard I/N: " + everything,
		}
	}
	return s, "$" + index, nil
}

const everything = "--shard 0/1 does everything."

// Incomplete is the error of work that other shards have yet to do.
type Incomplete struct {
	Left  string
	Shard string // of this process, and where it is from; "" for none
}

// SayShard notes the shard of this process in an error that is an Incomplete.
func SayShard(err error, s Shard, from string) {
	if e := (*Incomplete)(nil); errors.As(err, &e) && s.Count > 1 {
		e.Shard = fmt.Sprintf("%d/%d, from %s", s.Index, s.Count, from)
	}
}

func (e *Incomplete) Error() string {
	text := e.Left + " left to other shards, which have not finished them; repeat the command when they have"
	if e.Shard != "" {
		text += ". This process has shard " + e.Shard + "; " + everything
	}
	return text
}

// Holds reports whether the trial with this index is in the shard.
func (s Shard) Holds(index int) bool { return s.Count <= 1 || index%s.Count == s.Index }
