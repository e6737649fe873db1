package descriptions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/lago-train/lago-train/internal/invalid"
)

const wantObject = `an object of classes, {"class": {"attribute": value}}`

// readJSON reads an object of classes token by token. Maps would lose the order of the
// classes, the lines, and keys that are repeated.
func readJSON(f *file, text []byte) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	o := &object{file: f, text: text, Decoder: json.NewDecoder(bytes.NewReader(text))}
	o.UseNumber()
	if len(bytes.TrimSpace(text)) == 0 {
		f.report("json", 0, "", wantObject, "an empty file")
		return
	}
	if !o.open("") {
		return
	}
	for o.More() {
		name, ok := o.member()
		if !ok || !o.readClass(name) {
			return
		}
	}
	if _, ok := o.token(); !ok { // the closing brace
		return
	}
	if _, err := o.Token(); !errors.Is(err, io.EOF) {
		f.report("json", o.line(), "", "nothing after the object of classes", "more")
	}
}

// object reads the tokens of a JSON file.
type object struct {
	*json.Decoder
	file *file
	text []byte

	// The line breaks before offset counted are counted already.
	lines, counted int
}

// readClass reads the attributes of a class. It returns false if the rest cannot be
// read.
func (o *object) readClass(name string) bool {
	f := o.file
	c := f.newClass(o.line(), name)
	if !o.open("class " + invalid.Quote(name)) {
		return false
	}
	for o.More() {
		attribute, ok := o.member()
		if !ok {
			return false
		}
		line := o.line()
		m := f.attribute(line, attribute)
		var value json.RawMessage
		if err := o.Decode(&value); err != nil {
			o.broken(err)
			return false
		}
		if c != nil && m >= 0 {
			f.describe(line, c, m, valueText(value))
		}
	}
	_, ok := o.token() // the closing brace
	return ok
}

// valueText returns a JSON value as table.Probability reads it.
func valueText(value json.RawMessage) string {
	var text string
	switch {
	case string(value) == "null":
		return ""
	case string(value) == "true":
		return "yes"
	case string(value) == "false":
		return "no"
	case json.Unmarshal(value, &text) == nil:
		return text
	}
	return string(value)
}

// open reads the opening brace of an object.
func (o *object) open(field string) bool {
	t, ok := o.token()
	if ok && t != json.Delim('{') {
		o.file.report("json", o.line(), field, wantObject, invalid.Quote(fmt.Sprint(t)))
		return false
	}
	return ok
}

// member reads the name of a member of an object.
func (o *object) member() (string, bool) {
	t, ok := o.token()
	name, _ := t.(string) // the decoder accepts only strings as names
	return name, ok
}

func (o *object) token() (json.Token, bool) {
	t, err := o.Token()
	if err != nil {
		o.broken(err)
	}
	return t, err == nil
}

// broken reports that the file is not valid JSON.
func (o *object) broken(err error) {
	e := &invalid.Error{Where: o.file.path, Field: fmt.Sprintf("line %d", o.line()), Want: "valid JSON", Err: err}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		e.Got, e.Err = "the end of the file inside an object", nil
	}
	o.file.problems.AddError(e)
}

// line is that of the last token.
func (o *object) line() int {
	at := int(o.InputOffset())
	o.lines += bytes.Count(o.text[o.counted:at], []byte("\n"))
	o.counted = at
	return 1 + o.lines
}
