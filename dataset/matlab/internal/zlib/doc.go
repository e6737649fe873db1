// Package zlib inflates zlib streams (RFC 1950 and 1951), nothing else.
//
// It is there for its speed. Inflating is nearly all the work of reading a
// compressed MAT-file, and a decoder that takes eight bytes of input at a time and
// copies matches by words does it in about half the time of compress/zlib or of
// klauspost/compress, which fetch single bytes. It has no dictionaries, and it reads
// ahead of the end of the stream.
package zlib
