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

// readJSON reads an object of classes token by token: maps would lose the order of
// the classes, the lines, and what is there twice.
func readJSON(f *file, text []byte) {
	text = bytes.TrimPrefix(text, byteOrderMark)
	o := &object{file: f, text: text, Decoder: json.NewDecoder(bytes.NewReader(text))}
	o.UseNumber()
	if len(bytes.TrimSpace(text)) == 0 {
		f.wrong("json", 0, "", wantObject, "an empty file")
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
		f.wrong("json", o.line(), "", "nothing after the object of classes", "more")
	}
}

// object reads the tokens of a JSON file.
type object struct {
	*json.Decoder
	file *file
	text []byte
}

// readClass reads the attributes of a class; it returns false where reading can't
// go on.
func (o *object) readClass(name string) bool {
	f := o.file
	c := f.newClass(o.line(), name)
	if !o.open("class " + quote(name)) {
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

// valueText is a value of JSON as Value reads it.
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

// open reads the brace that an object starts with.
func (o *object) open(field string) bool {
	t, ok := o.token()
	if ok && t != json.Delim('{') {
		o.file.wrong("json", o.line(), field, wantObject, quote(fmt.Sprint(t)))
		return false
	}
	return ok
}

// member reads the name of a member of an object.
func (o *object) member() (string, bool) {
	t, ok := o.token()
	name, _ := t.(string) // what the decoder takes for a name is a string
	return name, ok
}

func (o *object) token() (json.Token, bool) {
	t, err := o.Token()
	if err != nil {
		o.broken(err)
	}
	return t, err == nil
}

// broken notes that the file is no JSON.
func (o *object) broken(err error) {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	o.file.mistakes.Add("json", &invalid.Error{Where: o.file.path, Field: fmt.Sprintf("line %d", o.line()), Err: err})
}

// line is that of the last token.
func (o *object) line() int {
	return 1 + bytes.Count(o.text[:o.InputOffset()], []byte("\n"))
}
