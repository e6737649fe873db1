package table

import (
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

func TestColours(t *testing.T) {
	plain := "a title\nwarning: of it\n│ food  │ +2.0 │       │██     │\n│ horns │ -1.0 │      █│       │\nnext: lago-train serve x   # or y\n"
	want := "a title\n\x1b[33mwarning:\x1b[0m of it\n│ food  │ +2.0 │       │\x1b[34m██\x1b[0m     │\n" +
		"│ horns │ -1.0 │      \x1b[33m█\x1b[0m│       │\n\x1b[1mnext: lago-train serve x\x1b[0m   # or y\n"
	testkit.Equal(t, "text", coloured(plain), want)
	testkit.Equal(t, "colours in a buffer", Colours(new(strings.Builder)), false)
}
