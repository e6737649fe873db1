package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/testkit"
)

// served starts a program that serves a page, and returns the page's address.
func served(t *testing.T, c *exec.Cmd) (address string) {
	t.Helper()
	out := testkit.Must(c.StdoutPipe())(t)
	testkit.NoError(t, c.Start())
	line := testkit.Must(bufio.NewReader(out).ReadString('\n'))(t)
	return line[strings.Index(line, "http"):strings.Index(line, " in a browser")]
}

// A kill while changes are saved leaves files that can be read, with every change that was answered.
func TestKillWhileServing(t *testing.T) {
	dir := t.TempDir()
	testkit.Write(t, dir, "labels.csv", "class\nowl\n")
	testkit.Write(t, dir, "attributes.csv", "name\nround\n")
	for kill := range 3 {
		c := process(t, "serve", dir)
		address := served(t, c)
		origin := address[:strings.LastIndex(strings.TrimSuffix(address, "/"), "/")]
		saved := 0
		for ; ; saved++ {
			if saved == 1 { // the next changes are being saved at some moment of the kill
				time.AfterFunc(time.Duration(1+10*kill)*time.Millisecond, func() { _ = c.Process.Kill() })
			}
			body := fmt.Sprintf(`{"version":%d,"changes":[{"class":"class %d of %d","new":true}]}`, saved, saved, kill)
			r := testkit.Must(http.NewRequest(http.MethodPost, address+"edit", strings.NewReader(body)))(t)
			r.Header.Set("Origin", origin)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				break
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Fatalf("change %d: %s", saved, answer.Status)
			}
		}
		_ = c.Wait() // it was killed
		d := testkit.Must(openlayout.ReadDescriptions(t.Context(), dir))(t)
		found := strings.Count(strings.Join(d.Classes, "\n"), fmt.Sprintf(" of %d", kill))
		if saved == 0 || found < saved || found > saved+1 {
			t.Errorf("%d classes in %s after %d changes", found, filepath.Join(dir, "classes.csv"), saved)
		}
	}
}

// SIGQUIT ends the page as Ctrl-C does, without stacks.
func TestQuitServing(t *testing.T) {
	c := process(t, "serve", "glyphs")
	var errors strings.Builder
	c.Stderr = &errors
	served(t, c)
	testkit.NoError(t, c.Process.Signal(syscall.SIGQUIT))
	if err := c.Wait(); err != nil || strings.Contains(errors.String(), "goroutine") {
		t.Errorf("%v:\n%s", err, &errors)
	}
}

func TestServeRefuses(t *testing.T) {
	misused(t, []string{"serve", "glyphs", "--weights", "w"}, "--weights: expected --model beside it")
}
