// Package download fetches one file over HTTP and goes on after a break: after a
// connection that was lost, in the same process or in a later one, only the rest is
// asked for.
//
// What is there already is kept beside the target, as path.part with the address,
// the length and the validator (ETag or Last-Modified) of the file in
// path.part.json. The rest is asked for on the condition that the file is still the
// same (RFC 9110, If-Range); a server that has another one, or none to tell them
// apart by, or knows no ranges, is read from the beginning. The target appears whole
// or not at all.
//
// A length that the server promises is held against what it sends. Whether the
// content is right is for the caller to say, by a checksum. Two processes must not
// download to one path at a time; a lock is the caller's business too.
package download
