package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"
)

// interruptGrace is the time an interrupted command has to clean up.
const interruptGrace = time.Second

// interruptible wraps the action of a command that does not train. The command ends soon
// after an interrupt, even while it waits for a pipe or reads a large file: its files
// are written atomically, so it can be abandoned at any time.
func interruptible(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		done := make(chan error, 1)
		go func() { done <- action(c) }()
		select {
		case err := <-done:
			return err
		case <-c.Context.Done():
		}
		select {
		case err := <-done:
			return err
		case <-time.After(interruptGrace):
			return context.Cause(c.Context)
		}
	}
}
