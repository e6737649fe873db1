package fileio

import "regexp"

// Format is a file format that is taken for another one.
type Format struct {
	Name string
	Hint string // what to do, where it does not depend on the format that is wanted
}

// ConvertHint says what to do with pictures that are not read.
const ConvertHint = "Convert photographs to JPEG or PNG."

// formats are told apart by the first bytes of a file.
var formats = []struct {
	begin *regexp.Regexp
	Format
}{
	{regexp.MustCompile(`^version https://git-lfs`), Format{"a git-LFS pointer", "It stands for the file: run git lfs pull, or download the file itself."}},
	{regexp.MustCompile(`^\s*<svg`), Format{"an SVG drawing", ConvertHint}},
	{regexp.MustCompile(`(?i)^(\xef\xbb\xbf)?\s*<(!doctype|html|\?xml|head|body|error)`), Format{"a page of HTML or XML", "The server sent a page in place of the file: download it again."}},
	{regexp.MustCompile(`(?s)^\s*\{.*"weight_map"`), Format{"an index of weights in several files", "Give the .safetensors file that it names; several are joined in Python with safetensors."}},
	{regexp.MustCompile(`^\s*\{\s*("|\})`), Format{Name: "a JSON file"}},
	{regexp.MustCompile(`(?s)^\x08[\x01-\x20]\x12.{1,3}(pytorch|tf2onnx|onnx|keras|skl2onnx|torch)`), Format{Name: "an ONNX model"}},
	{regexp.MustCompile(`^\x93NUMPY`), Format{Name: "a NumPy array (.npy)"}},
	{regexp.MustCompile(`(?s)^PK\x03\x04.{26}(\[Content_Types\]|_rels/|docProps|xl/|mimetype)`), Format{Name: "a spreadsheet or another document (.xlsx, .ods)"}},
	{regexp.MustCompile(`^PK\x03\x04`), Format{Name: "a ZIP archive, such as a PyTorch checkpoint (.pt, .pth), .npz or .xlsx"}},
	{regexp.MustCompile(`^\x80[\x02-\x05]`), Format{Name: "a Python pickle, such as an old PyTorch checkpoint (.pt, .pth)"}},
	{regexp.MustCompile(`^\x89HDF`), Format{Name: "an HDF5 file (.h5, or .mat of version 7.3)"}},
	{regexp.MustCompile(`^MATLAB 5`), Format{Name: "a MATLAB file (.mat)"}},
	{regexp.MustCompile(`^GGUF`), Format{Name: "a GGUF file"}},
	{regexp.MustCompile(`^(\x1f\x8b|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd)`), Format{Name: "a compressed file", Hint: "Unpack it."}},
	{regexp.MustCompile(`^(\x89PNG|\xff\xd8\xff|GIF8)`), Format{Name: "an image"}},
	{regexp.MustCompile(`(?s)^.{4}ftyp(hei|hev|mif1|msf1)`), Format{"a HEIC photograph", ConvertHint}},
	{regexp.MustCompile(`(?s)^.{4}ftypavi`), Format{"an AVIF image", ConvertHint}},
	{regexp.MustCompile(`(?s)^(.{4}JXL |\xff\x0a)`), Format{"a JPEG XL image", ConvertHint}},
	{regexp.MustCompile(`(?s)^.{4}ftyp`), Format{Name: "a video"}},
	{regexp.MustCompile(`^\xd0\xcf\x11\xe0`), Format{Name: "an old Excel or Word document (.xls, .doc)"}},
	{regexp.MustCompile(`^PAR1`), Format{Name: "a Parquet file"}},
	{regexp.MustCompile(`^(ARROW1|FEA1)`), Format{Name: "an Arrow or Feather file"}},
	{regexp.MustCompile(`^%PDF`), Format{Name: "a PDF document"}},
}

// FormatBytes is the number of bytes that FormatOf needs at most.
const FormatBytes = 512

// FormatOf names the format of a file by its first bytes, for the error of a reader of another
// format. It is empty for formats that are not known.
func FormatOf(begin []byte) Format {
	begin = begin[:min(len(begin), FormatBytes)]
	latin := make([]rune, len(begin)) // so that the expressions see bytes
	for i, b := range begin {
		latin[i] = rune(b)
	}
	text := []byte(string(latin))
	for _, f := range formats {
		if f.begin.Match(text) {
			return f.Format
		}
	}
	return Format{}
}
