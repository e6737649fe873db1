package matlab

// Class is the class of an array, as MATLAB's class function names it. The values
// up to Opaque are those of the file format.
type Class uint8

// Classes of arrays.
const (
	Unknown Class = iota // none that the format's description names
	Cell
	Struct
	Object
	Char
	Sparse
	Double
	Single
	Int8
	Uint8
	Int16
	Uint16
	Int32
	Uint32
	Int64
	Uint64
	Function
	Opaque  // an object of a class defined in MATLAB code
	Logical // stored as uint8 with a flag
)

var classNames = [...]string{
	"unknown", "cell", "struct", "object", "char", "sparse", "double", "single",
	"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
	"function_handle", "opaque", "logical",
}

func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return classNames[Unknown]
}

// numeric reports whether the elements of the class are numbers or truth values.
func (c Class) numeric() bool {
	return c >= Double && c <= Uint64 || c == Logical
}
