package lab

import (
	"errors"
	"fmt"
)

// Waiting says that a round of a search is not over, since trials of it belong to
// other shards: which settings are next depends on them.
type Waiting struct {
	Round string
	Left  int
	Total int
}

func (w *Waiting) Error() string {
	return fmt.Sprintf("%d of the %d trials of the %s round belong to other shards, which have not finished them: run the same command again when they are through",
		w.Left, w.Total, w.Round)
}

// waitingFor counts the trials of a round that other shards have not finished.
func WaitingFor(round string, done []Run) *Waiting {
	w := &Waiting{Round: round, Total: len(done)}
	for _, t := range done {
		if errors.Is(t.Err, ErrElsewhere) {
			w.Left++
		}
	}
	return w
}
