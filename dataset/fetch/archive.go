package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// archive is an archive on disk.
type archive struct {
	Archive
	local bool // a file of the user
}

// archive returns the archive at an address or path, downloading it if needed. What is its
// name for the user, and sum its expected SHA-256 in hex, if any.
func (f *fetcher) archive(ctx context.Context, what, source, sum string) (*archive, error) {
	a := &archive{Archive{Source: source, File: source, Kept: true}, !isAddress(source)}
	if !a.local {
		a.Source = redact(source)
		a.File = filepath.Join(f.DownloadDir, cacheName(a.Source))
		if err := f.cached(ctx, a, source, "downloading "+what); err != nil {
			return nil, err
		}
	}
	return a, a.verify(f.meter(ctx, "checking "+what), sum)
}

// isAddress reports whether a source is an address, not the path of a file.
func isAddress(source string) bool { return strings.Contains(source, "://") }

const wantSource = "an http or https address, or the path of an archive"

func checkAddress(flag, source string) error {
	u, err := url.Parse(source)
	if !isAddress(source) || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return nil
	}
	// The cause could contain a part of the password.
	return &invalid.Error{Where: flag, Want: wantSource, Got: fmt.Sprintf("%.200q", redact(source))}
}

// cached downloads an archive unless an earlier call did.
func (f *fetcher) cached(ctx context.Context, a *archive, address, step string) (err error) {
	if err := os.MkdirAll(f.DownloadDir, 0o777); err != nil {
		return err
	}
	lock, err := f.lock(ctx, filepath.Join(f.DownloadDir, ".download.lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	_, err = os.Lstat(a.File)
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	a.Downloaded = true
	return f.download(ctx, address, a.File, f.meter(ctx, step))
}

// cacheName returns the file name for an address: readable, and different for files of
// the same name elsewhere.
func cacheName(address string) string {
	name := "archive.zip"
	if u, err := url.Parse(address); err == nil && path.Ext(u.Path) == ".zip" {
		name = path.Base(u.Path)
	}
	sum := sha256.Sum256([]byte(address))
	return strings.TrimSuffix(name, ".zip") + "-" + hex.EncodeToString(sum[:6]) + ".zip"
}

var upToHost = regexp.MustCompile(`://.*@`)

// redact returns an address without its password, for display.
func redact(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Redacted()
	}
	return upToHost.ReplaceAllString(address, "://xxxxx@")
}

// verify computes the size and checksum of an archive, and compares the latter with the
// expected one, if any.
func (a *archive) verify(m *meter, want string) (err error) {
	file, size, err := input.OpenRegular(m.ctx, a.File)
	if a.local && errors.Is(err, os.ErrNotExist) {
		return &invalid.Error{Where: a.File, Want: wantSource, Got: "no such file"}
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // nothing was written
	m.total = size
	sum := sha256.New()
	if a.Bytes, err = io.Copy(io.MultiWriter(m, sum), file); err != nil {
		return err
	}
	a.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if want == "" || strings.EqualFold(want, a.SHA256) {
		return nil
	}
	e := &invalid.Error{Where: a.File, Field: "SHA-256", Want: strings.ToLower(want), Got: a.SHA256}
	if !a.local {
		e.Hint = "It came from " + a.Source + "."
		if a.Kept {
			e.Hint += " To download it again, remove it first."
		}
	}
	return e
}

// meter reports the bytes that are written to it as progress of a step. It fails once
// its context is done.
type meter struct {
	ctx         context.Context
	step        string
	done, total int64 // total is -1 if unknown
	progress    func(Progress)
}

func (f *fetcher) meter(ctx context.Context, step string) *meter {
	return &meter{ctx: ctx, step: step, progress: f.Progress}
}

func (m *meter) Write(b []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	m.done += int64(len(b))
	m.progress(Progress{m.step, m.done, m.total})
	return len(b), nil
}
