package unpack

// A Pick says whether an entry of an archive is wanted, and the path that its file
// gets, with slashes and below the folder of the files. It is given the entry's name
// as it stands in the archive.
type Pick func(name string) (as string, wanted bool)

// Limits bound what an archive may hold. The zero value of each means its default.
type Limits struct {
	Bytes   int64 // of all files that are picked; default 8 GiB
	Ratio   int64 // of a file to its compressed form, and of all files to the archive; default 200
	Entries int   // in the archive, picked or not; default 100,000
}

const (
	defaultBytes   = 8 << 30
	defaultRatio   = 200
	defaultEntries = 100_000

	// directoryBytesPerEntry bounds what is read of the directory, and so the memory
	// that it takes, before its entries can be counted. Entries of real archives have
	// 46 bytes, a path and a few fields more.
	directoryBytesPerEntry = 200
	// endBytes is what is read to find the directory: the last 65 KiB, in which a
	// comment may hide its record, and the records beside it.
	endBytes = 1 << 17
)

// Options say what is bearable, and who is told of progress. The zero value is
// ready to use.
type Options struct {
	Limits
	// Progress is told how many bytes of the files are written, of how many; nil
	// tells nobody.
	Progress func(done, total int64)
}

func (o Options) withDefaults() Options {
	if o.Bytes == 0 {
		o.Bytes = defaultBytes
	}
	if o.Ratio == 0 {
		o.Ratio = defaultRatio
	}
	if o.Entries == 0 {
		o.Entries = defaultEntries
	}
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	return o
}
