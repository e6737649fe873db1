package zlib

import (
	"bytes"
	"compress/flate"
	stdlib "compress/zlib"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// pack compresses data with the standard library.
func pack(level int, data []byte) []byte {
	var packed bytes.Buffer
	w, err := stdlib.NewWriterLevel(&packed, level)
	if err != nil {
		panic(err)
	}
	if _, err := w.Write(data); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return packed.Bytes()
}

func unpack(r io.Reader) ([]byte, error) {
	var z Reader
	if err := z.Reset(r); err != nil {
		return nil, err
	}
	return io.ReadAll(&z)
}

// samples are data of several kinds, longer than the window and the buffers.
func samples() map[string][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	const size = 150_000
	noise, skewed, digits := make([]byte, size), make([]byte, size), make([]byte, size)
	for i := range size {
		noise[i] = byte(random.Uint32())
		skewed[i] = byte(random.ExpFloat64() * 20) // gives codes of many lengths
		digits[i] = "0123456789 \n"[random.IntN(12)]
	}
	return map[string][]byte{
		"empty": nil, "a byte": {7}, "noise": noise, "skewed": skewed, "digits": digits,
		"zeros": make([]byte, size), "far matches": slices.Repeat(noise[:32<<10], 5),
	}
}

func TestLevels(t *testing.T) {
	for name, data := range samples() {
		for _, level := range []int{stdlib.HuffmanOnly, stdlib.NoCompression, stdlib.BestSpeed, stdlib.DefaultCompression, stdlib.BestCompression} {
			packed := pack(level, data)
			for _, r := range []io.Reader{
				bytes.NewReader(packed),
				iotest.OneByteReader(bytes.NewReader(packed)),
				iotest.DataErrReader(bytes.NewReader(append(packed, "behind the end"...))),
			} {
				got, err := unpack(r)
				if err != nil {
					t.Errorf("%s, level %d: %v", name, level, err)
				}
				if !bytes.Equal(got, data) {
					t.Errorf("%s, level %d: %d bytes became %d others", name, level, len(data), len(got))
				}
			}
		}
	}
}

// Matches of any length and distance come back, since data made of repeats of
// themselves do.
func TestMatchesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "start")
		for range rapid.IntRange(0, 20).Draw(t, "repeats") {
			from := rapid.IntRange(0, len(data)-1).Draw(t, "from")
			data = append(data, slices.Repeat(data[from:], rapid.IntRange(1, 4).Draw(t, "times"))...)
			data = data[:min(len(data), 100_000)]
		}
		got, err := unpack(bytes.NewReader(pack(rapid.IntRange(-2, 9).Draw(t, "level"), data)))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes became %d, %v", len(data), len(got), err)
		}
	})
}

func TestResetBeginsAnew(t *testing.T) {
	var z Reader
	for _, data := range []string{"the first stream", "another"} {
		if err := z.Reset(bytes.NewReader(pack(9, []byte(data)))); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 3)
		if _, err := io.ReadFull(&z, got); err != nil || string(got) != data[:3] {
			t.Errorf("read %q, %v", got, err)
		}
	}
}

func TestTruncated(t *testing.T) {
	for name, data := range map[string][]byte{"text": []byte("text that repeats text"), "noise": samples()["noise"][:500]} {
		packed := pack(stdlib.DefaultCompression, data)
		for n := range packed {
			if _, err := unpack(bytes.NewReader(packed[:n])); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, %d of %d bytes: %v", name, n, len(packed), err)
			}
		}
	}
}

func TestBroken(t *testing.T) {
	wrongSum := pack(9, []byte("text"))
	wrongSum[len(wrongSum)-1]++
	for name, c := range map[string]struct {
		packed []byte
		want   error
	}{
		"another method":            {[]byte{0x79, 0x9c}, ErrHeader},
		"a window too large":        {[]byte{0x88, 0x1c}, ErrHeader},
		"a dictionary":              {[]byte{0x78, 0xbb}, ErrHeader},
		"header checksum":           {[]byte{0x78, 0x9d}, ErrHeader},
		"checksum":                  {wrongSum, ErrChecksum},
		"no such block":             {[]byte{0x78, 0x9c, 0b111}, ErrCorrupt},
		"sizes of a stored block":   {[]byte{0x78, 0x9c, 0b001, 1, 0, 1, 0}, ErrCorrupt},
		"too many literals":         {[]byte{0x78, 0x9c, 0b11111_101, 0, 0, 0}, ErrCorrupt},
		"a match before the start":  {[]byte{0x78, 0x9c, 0b011, 0b10, 0, 0, 0, 0}, ErrCorrupt},
		"codes of no length at all": {[]byte{0x78, 0x9c, 0b101, 0, 0, 0, 0, 0, 0, 0, 0, 0}, ErrCorrupt},
		"fixed code 286, unused":    {[]byte{0x78, 0x9c, 0b00011_011, 0b011, 0, 0}, ErrCorrupt},
		"fixed distance 30, unused": {[]byte{0x78, 0x9c, 0b011, 0b01111_10, 0, 0, 0}, ErrCorrupt},
	} {
		// With more behind them they are for the fast decoder.
		for _, packed := range [][]byte{c.packed, append(c.packed, make([]byte, inputSlack)...)} {
			if _, err := unpack(bytes.NewReader(packed)); !errors.Is(err, c.want) {
				t.Errorf("%s, %d bytes: error %v, want %v", name, len(packed), err, c.want)
			}
		}
	}
	broken := errors.New("the disk is broken")
	if _, err := unpack(io.MultiReader(bytes.NewReader(wrongSum[:5]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("a failing source: %v", err)
	}
}

// FuzzAgainstStandard holds that the standard library accepts the same compressed
// data and inflates them to the same. It puts a header and the right checksum around
// them, or else most changes would end there.
func FuzzAgainstStandard(f *testing.F) {
	for _, data := range samples() {
		data = data[:min(len(data), 2000)]
		for _, level := range []int{stdlib.HuffmanOnly, stdlib.NoCompression, stdlib.BestSpeed, stdlib.BestCompression} {
			packed := pack(level, data)
			f.Add(packed[2 : len(packed)-4])
		}
	}
	f.Fuzz(func(t *testing.T, deflated []byte) {
		in := bytes.NewReader(deflated)
		want, wantErr := io.ReadAll(flate.NewReader(in))
		used := deflated[:len(deflated)-in.Len()]
		packed := binary.BigEndian.AppendUint32(slices.Concat([]byte{0x78, 0x9c}, used), adler32.Checksum(want))
		got, err := unpack(bytes.NewReader(packed))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("error %v, the standard library's %v", err, wantErr)
		}
		if err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, the standard library's %d, differ", len(got), len(want))
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for name, data := range samples() {
		if len(data) < windowSize {
			continue
		}
		packed := pack(stdlib.DefaultCompression, data)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			var z Reader
			for b.Loop() {
				if err := z.Reset(bytes.NewReader(packed)); err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, &z); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
