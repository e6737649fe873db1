package lab

import (
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
		return Shard{}, &invalid.Error{Field: "shard", Want: "I/N with I from 0 to N-1", Got: strconv.Quote(s)}
	}
	return Shard{i, n}, nil
}

// ShardFromEnvironment returns the shard that Slurm or Kubernetes assigns to this
// process: SLURM_ARRAY_TASK_ID of SLURM_ARRAY_TASK_COUNT, counted from
// SLURM_ARRAY_TASK_MIN, or JOB_COMPLETION_INDEX of JOB_COMPLETIONS, which the
// manifest of an Indexed Job sets beside it. Without them it is the whole grid.
func ShardFromEnvironment() (Shard, error) {
	if index := os.Getenv("SLURM_ARRAY_TASK_ID"); index != "" {
		return fromVariables("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN")
	}
	if index := os.Getenv("JOB_COMPLETION_INDEX"); index != "" {
		return fromVariables("JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", "")
	}
	return Shard{}, nil
}

// fromVariables reads a shard whose indices start at the value of least, 0 where
// that is not set.
func fromVariables(index, count, least string) (Shard, error) {
	number := func(name string) (int, error) {
		n, err := strconv.Atoi(os.Getenv(name))
		if err != nil {
			return 0, &invalid.Error{Where: "$" + name, Want: "a number", Got: strconv.Quote(os.Getenv(name))}
		}
		return n, nil
	}
	i, err := number(index)
	if err != nil {
		return Shard{}, err
	}
	if os.Getenv(count) == "" {
		return Shard{}, &invalid.Error{
			Where: "$" + count, Want: "a number", Got: "none", Hint: "Set it to the number of shards, or give --shard I/N.",
		}
	}
	n, err := number(count)
	if err != nil {
		return Shard{}, err
	}
	if least != "" && os.Getenv(least) != "" {
		first, err := number(least)
		if err != nil {
			return Shard{}, err
		}
		i -= first
	}
	if i < 0 || i >= n {
		return Shard{}, &invalid.Error{Where: "$" + index, Want: fmt.Sprintf("an index of the %d shards of $%s", n, count), Got: os.Getenv(index)}
	}
	return Shard{i, n}, nil
}

// Holds reports whether the trial with this index is in the shard.
func (s Shard) Holds(index int) bool { return s.Count <= 1 || index%s.Count == s.Index }
