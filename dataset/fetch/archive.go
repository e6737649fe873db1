package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/dataset/fetch/internal/download"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Archive is one that a data set was taken from.
type Archive struct {
	Source     string `json:"source"` // address or path, as it was given
	File       string `json:"file"`   // where it is on disk, or was
	Bytes      int64  `json:"bytes"`
	SHA256     string `json:"sha256"`     // in hex
	Downloaded bool   `json:"downloaded"` // now, and not by an earlier command
	Kept       bool   `json:"kept"`       // is still there
}

// local says that the archive is the user's own file.
func (a *Archive) local() bool { return a.File == a.Source }

// archive gets an archive onto the disk; what says which one it is.
func (o Options) archive(ctx context.Context, what, address string) (*Archive, error) {
	a := &Archive{Source: address, File: address, Kept: true}
	if isAddress(address) {
		if err := o.cached(ctx, what, a); err != nil {
			return nil, err
		}
	}
	if err := o.measure(ctx, what, a); err != nil {
		return nil, err
	}
	return a, nil
}

// isAddress tells an address from the path of a file.
func isAddress(text string) bool { return strings.Contains(text, "://") }

// cached finds the archive among those that were downloaded, or downloads it.
func (o Options) cached(ctx context.Context, what string, a *Archive) (err error) {
	if err := os.MkdirAll(o.DownloadDir, 0o777); err != nil {
		return err
	}
	a.File = filepath.Join(o.DownloadDir, cacheName(a.Source))
	free, err := hold(ctx, a.File+".lock", func() {
		o.Notice("waiting for another process that downloads the same: " + a.File)
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	_, err = os.Stat(a.File)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	a.Downloaded = true
	return download.File(ctx, a.Source, a.File, o.download(what))
}

// cacheName is readable, and unlike for files of the same name elsewhere.
func cacheName(address string) string {
	name := "archive.zip"
	if u, err := url.Parse(address); err == nil && path.Ext(u.Path) == ".zip" {
		name = path.Base(u.Path)
	}
	sum := sha256.Sum256([]byte(address))
	return strings.TrimSuffix(name, ".zip") + "-" + hex.EncodeToString(sum[:6]) + ".zip"
}

// measure reads an archive for its size and checksum.
func (o Options) measure(ctx context.Context, what string, a *Archive) (err error) {
	f, err := os.Open(a.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &invalid.Error{Where: a.File, Want: "a zip archive", Got: "what is no file"}
	}
	sum := sha256.New()
	m := &measuring{ctx: ctx, hash: sum, total: info.Size(), progress: o.step("checking " + what)}
	if _, err := io.Copy(m, f); err != nil {
		return err
	}
	a.Bytes, a.SHA256 = m.done, hex.EncodeToString(sum.Sum(nil))
	return nil
}

// measuring is a hash that tells how far it is, and ends with a context.
type measuring struct {
	ctx         context.Context
	hash        hash.Hash
	done, total int64
	progress    func(done, total int64)
}

func (m *measuring) Write(b []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	m.done += int64(len(b))
	m.progress(m.done, m.total)
	return m.hash.Write(b)
}

// isSum says whether a text is a SHA-256 in hex.
func isSum(text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == sha256.Size
}

// verify compares the checksum with the one that is wanted, if one is.
func (a *Archive) verify(want string) error {
	if want == "" || strings.EqualFold(want, a.SHA256) {
		return nil
	}
	e := &invalid.Error{Where: a.File, Field: "SHA-256", Want: strings.ToLower(want), Got: a.SHA256}
	if a.local() {
		return e
	}
	return fmt.Errorf("%w; it came from %s: if it is to be downloaded anew, remove it first", e, a.Source)
}
