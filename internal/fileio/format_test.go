package fileio_test

import (
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/fileio"
)

func TestFormatOf(t *testing.T) {
	for begin, want := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a": "a git-LFS pointer",
		"<!DOCTYPE html><html>":                 "a page of HTML or XML",
		"\xef\xbb\xbf\n<?xml version=\"1.0\"?>": "a page of HTML or XML",
		"{\"metadata\": {}, \"weight_map\": {}": "an index of weights",
		"{\n  \"hidden_size\": 768":             "a JSON file",
		"\x08\x07\x12\x07pytorch\x1a\x05":       "an ONNX model",
		"\x93NUMPY\x01\x00v\x00":                "a NumPy array",
		"PK\x03\x04\x00\x00":                    "a ZIP archive",
		"\x80\x02}q\x00":                        "a Python pickle",
		"\x89HDF\r\n\x1a\n":                     "an HDF5 file",
		"\x1f\x8b\x08":                          "a compressed file",
		"\xff\xd8\xff\xe0":                      "an image",
		"\x00\x00\x00\x18ftypheic\x00\x00":      "a HEIC",
		"\x00\x00\x00\x1cftypavif\x00\x00":      "an AVIF",
		"\x00\x00\x00\x14ftypqt  ":              "a video",
		"PK\x03\x04" + strings.Repeat("\x00", 26) + "[Content_Types].xml": "a spreadsheet",
		"\xd0\xcf\x11\xe0\xa1\xb1":               "an old Excel",
		"PAR1\x15\x04":                           "a Parquet",
		"class,size\n":                           "",
		"\x40\x00\x00\x00\x00\x00\x00\x00{\"w\"": "",
		"":                                       "",
	} {
		if got := fileio.FormatOf([]byte(begin)).Name; !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("%q: %s, expected %s", begin, got, want)
		}
	}
}
