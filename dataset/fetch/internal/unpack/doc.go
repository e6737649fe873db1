// Package unpack takes files out of a zip archive that nobody vouches for.
//
// The caller picks the entries that it wants and says where each goes. Nothing is
// written outside of the folder that it names: names that lead elsewhere, links and
// devices are refused, and the system is asked to hold the writes to the folder as
// well (os.Root). What an archive may expand to is bounded, in all and in proportion
// to its own size; the sizes that it declares are held to the bounds, and the bytes
// that come to what was declared. Each file's checksum is compared.
//
// Archives whose directory alone would fill the memory are refused too. A folder in
// which an error left some files is the caller's to remove.
package unpack
