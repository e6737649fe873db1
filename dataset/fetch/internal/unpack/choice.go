package unpack

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// chosen is an entry that is to be written.
type chosen struct {
	*zip.File
	as string // below the folder, with slashes
}

// choose returns the entries that are picked, having looked at all that can be known
// of them before they are read.
func (a *archive) choose(pick Pick, limits Limits) ([]chosen, error) {
	var all []chosen
	total := int64(0)
	from := make(map[string]string) // entries, by what their files are named in lower case
	for _, f := range a.names.File {
		// Even where it isn't wanted, such a name says what the archive is.
		if leaves(f.Name) {
			return nil, a.refuse(f.Name, "a path inside of the archive's folder", "one that leaves it")
		}
		as, wanted := pick(f.Name)
		if !wanted || strings.HasSuffix(f.Name, "/") {
			continue
		}
		if err := a.checkEntry(f, as, limits); err != nil {
			return nil, err
		}
		key := strings.ToLower(as)
		if other, taken := from[key]; taken {
			return nil, a.refuse(f.Name, "one entry for "+as, fmt.Sprintf("%q as well", other))
		}
		from[key] = f.Name
		// Each is at most limits.Bytes, so that the sum can't overflow.
		total += int64(f.UncompressedSize64)
		if total > limits.Bytes {
			return nil, a.refuse(f.Name, fmt.Sprintf("at most %d bytes in all", limits.Bytes), fmt.Sprintf("%d so far", total))
		}
		all = append(all, chosen{f, as})
	}
	// Entries that share compressed bytes get past the ratio of each.
	if total/limits.Ratio > a.size {
		return nil, a.refuse("", fmt.Sprintf("at most %d times the archive's %d bytes", limits.Ratio, a.size), fmt.Sprint(total))
	}
	return all, nil
}

// checkEntry looks at one entry that is wanted.
func (a *archive) checkEntry(f *zip.File, as string, limits Limits) error {
	size, compressed := f.UncompressedSize64, f.CompressedSize64
	switch {
	case strings.Contains(f.Name, `\`):
		return a.refuse(f.Name, "slashes between folders", "a backslash")
	case !fs.ValidPath(as) || as == "." || leaves(as):
		return a.refuse(f.Name, "a path of plain names", fmt.Sprintf("%q", as))
	case !f.Mode().IsRegular():
		return a.refuse(f.Name, "a file", kind(f.Mode()))
	case f.Flags&1 != 0:
		return a.refuse(f.Name, "a file that is not encrypted", "an encrypted one")
	case size > uint64(limits.Bytes):
		return a.refuse(f.Name, fmt.Sprintf("at most %d bytes", limits.Bytes), fmt.Sprint(size))
	case compressed > uint64(a.size):
		return a.refuse(f.Name, fmt.Sprintf("compressed bytes within the archive's %d", a.size), fmt.Sprint(compressed))
	case size > uint64(limits.Ratio)*compressed:
		return a.refuse(f.Name, fmt.Sprintf("at most %d times its %d compressed bytes", limits.Ratio, compressed), fmt.Sprint(size))
	}
	return nil
}

// leaves says whether a name leads out of the folder that it is meant below, on any
// system: ".." between slashes or backslashes, a root, a drive, a NUL.
func leaves(name string) bool {
	p := strings.ReplaceAll(name, `\`, "/")
	drive := len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
	if path.IsAbs(p) || drive || strings.ContainsRune(p, 0) {
		return true
	}
	for element := range strings.SplitSeq(p, "/") {
		if element == ".." {
			return true
		}
	}
	return false
}

// kind names what is not a regular file.
func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsDir():
		return "a folder"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file (" + m.String() + ")"
}
