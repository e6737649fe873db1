// Package matlab reads arrays of numbers and text from MAT-files of level 5, the format
// of MATLAB's save -v6 and -v7, as described in MathWorks' "MAT-File Format" (chapter 1,
// level 5 MAT-file format).
//
// It streams: data are decompressed and converted piece by piece into the result, and
// variables that are not wanted are skipped. Sizes that a file declares are checked
// before memory is allocated for them, so a damaged or hostile file ends in an
// *invalid.Error that names the file, the variable and the byte. A truncated file is
// refused even where the wanted variables are complete.
//
// Not supported are complex, sparse, struct, object and function variables, text of more
// than 64 MB, level 4 files, and files of version 7.3, which are HDF5. The package does
// not know data sets: what the variables mean is for its callers.
package matlab
