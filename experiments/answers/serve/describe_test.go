package serve

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/testkit"
)

// A change is in the file at once, as a word like the others; undo restores it; what another
// program writes meanwhile is kept and shown.
func TestEdit(t *testing.T) {
	s := started(t, Page{})
	path := filepath.Join(s.Dir, "classes.csv")
	edit := func(version int, body map[string]any) *httptest.ResponseRecorder {
		return request(s, "POST", "/edit", map[string]any{"version": version, "changes": []any{body}}, nil)
	}
	v := answered[state](t, edit(0, map[string]any{"class": "bare", "cells": map[string]any{"colour::red": 0.76, "size::small": nil}}))
	testkit.WantText(t, testkit.Read(t, path), "big blue,no,yes,yes,no\nbare,often,,,\n")
	if v.Undo != 1 || v.Version != 1 || *v.Classes[2].Values[0] != 0.75 || v.Classes[2].Values[1] != nil {
		t.Errorf("%+v", v)
	}
	v = answered[state](t, request(s, "POST", "/undo", map[string]any{"version": 1}, nil))
	if v.Undo != 0 || strings.Contains(testkit.Read(t, path), "often") {
		t.Errorf("undone: %+v\n%s", v, testkit.Read(t, path))
	}
	answered[state](t, edit(2, map[string]any{"attribute": map[string]any{"name": "size::tiny", "group": "size"}}))
	answered[state](t, edit(3, map[string]any{"class": "new", "new": true, "cells": map[string]any{"size::tiny": 1}}))
	testkit.WantText(t, testkit.Read(t, filepath.Join(s.Dir, "attributes.csv")), "size::tiny,size\n")
	testkit.WantText(t, testkit.Read(t, path), ",size::tiny\n", "new,,,,,yes\n")

	testkit.Write(t, s.Dir, "classes.csv", "class,colour::red\nold,0.5\n")
	if w := edit(4, map[string]any{"class": "old", "cells": map[string]any{"colour::red": 1}}); w.Code != http.StatusConflict {
		t.Errorf("a file that changed: %d %s", w.Code, w.Body)
	}
	testkit.WantText(t, testkit.Read(t, path), "old,0.5")
	if v = answered[state](t, request(s, "GET", "/state", nil, nil)); v.Version != 5 || *v.Classes[0].Values[0] != 0.5 {
		t.Errorf("the page shows %+v", v)
	}
}

// The second page of a data set is only read, until the first one ends.
func TestTwoPages(t *testing.T) {
	s := started(t, Page{})
	second := started(t, Page{Dir: s.Dir})
	w := request(second, "POST", "/edit", edit{Changes: []change{{Class: "new", New: true}}}, nil)
	testkit.WantText(t, w.Body.String(), "another process has it open for writing")
	if v := answered[state](t, request(second, "GET", "/state", nil, nil)); w.Code != http.StatusForbidden || v.ReadOnly == "" || second.WhyReadOnly() != v.ReadOnly {
		t.Errorf("status %d, read only %q", w.Code, v.ReadOnly)
	}
	_, err := catalog.Describe(t.Context(), s.Dir, catalog.Sources{}, catalog.Options{})
	if !errors.Is(err, descriptions.ErrLocked) {
		t.Errorf("describe while a page is open: %v", err)
	}
	testkit.NoError(t, s.unlock())
	if third := started(t, Page{Dir: s.Dir}); third.WhyReadOnly() != "" {
		t.Error(third.WhyReadOnly())
	}
}

// Many classes are added at once. What is not of the page is refused, also two names of one request that mean the same.
func TestManyClasses(t *testing.T) {
	s := started(t, Page{})
	many := make([]change, 4000)
	for i := range many {
		many[i] = change{Class: fmt.Sprint("class ", i), New: true}
	}
	v := answered[state](t, request(s, "POST", "/edit", edit{Changes: many}, nil))
	testkit.Equal(t, "classes", len(v.Classes), 4003)
	for i := range many {
		many[i] = change{Class: many[i].Class, Delete: true}
	}
	refuses := func(body any, want string) {
		t.Helper()
		testkit.WantText(t, request(s, "POST", "/edit", body, nil).Body.String(), want)
	}
	v = answered[state](t, request(s, "POST", "/edit", edit{Version: 1, Changes: many}, nil))
	testkit.Equal(t, "classes left", len(v.Classes), 3)
	refuses(edit{Version: 2, Changes: []change{{Class: "emu", New: true}, {Class: "EMU", New: true}}}, "There is emu.")
	refuses(edit{Version: 2, Changes: []change{{Class: "Jose\u0301", New: true}, {Class: "Jos\u00e9", New: true}}}, "expected a new name")
}
