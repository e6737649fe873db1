// Package matlab reads and writes arrays of numbers and text in MAT-files of level 5,
// the format of MATLAB's save -v6 and -v7, as described in MathWorks' "MAT-File
// Format" (chapter 1, level 5 MAT-file format).
//
// It streams: an element is inflated and converted piece by piece into the result,
// and variables that nobody asked for are passed over. What a file says of its own
// sizes is not believed before the bytes for it are known to be there, so that a
// damaged or hostile file ends in an [*Error] and not in an exhausted memory.
//
// What it writes is plain: uncompressed numbers and cells of text. It does not read
// complex, sparse, struct, object or function variables ([ErrUnsupported] where one
// is asked for), level 4 files, or files of version 7.3, which are HDF5. It knows
// nothing of data sets: what the variables mean is for its callers to say.
package matlab
