package images

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

// picture is 5 x 4 pixels, half of them transparent.
func picture() *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, 5, 4))
	for i := range 20 {
		m.SetNRGBA(i%5, i/5, color.NRGBA{uint8(40 * (i % 5)), uint8(60 * (i / 5)), 200, uint8(55 + 200*(i%2))})
	}
	return m
}

// encoded returns the bytes that an encoder writes.
func encoded(t testing.TB, encode func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	testkit.NoError(t, encode(&b))
	return b.String()
}

func TestDecodesFormats(t *testing.T) {
	m := picture()
	opaque := image.NewNRGBA(m.Rect)
	paletted := image.NewPaletted(image.Rect(1, 1, 4, 3), color.Palette{color.NRGBA{1, 2, 3, 255}, color.NRGBA{9, 8, 7, 0}})
	paletted.SetColorIndex(2, 1, 1)
	deep := image.NewNRGBA64(m.Rect)
	gray := image.NewGray16(m.Rect)
	for i := range 20 {
		c := m.NRGBAAt(i%5, i/5)
		c.A = 255
		opaque.SetNRGBA(i%5, i/5, c)
		deep.SetNRGBA64(i%5, i/5, color.NRGBA64{uint16(c.R) << 8, uint16(c.G)<<8 | 255, uint16(c.B) << 8, 0})
		gray.SetGray16(i%5, i/5, color.Gray16{uint16(c.R)<<8 | 255})
	}
	dir := t.TempDir()
	colour := func(i int) [3]uint8 { c := m.NRGBAAt(i%5, i/5); return [3]uint8{c.R, c.G, c.B} }
	for _, c := range []struct {
		name   string
		encode func(io.Writer) error
		want   func(i int) [3]uint8
	}{
		{"a.png", func(w io.Writer) error { return png.Encode(w, m) }, colour},
		{"deep.png", func(w io.Writer) error { return png.Encode(w, deep) }, colour},
		{"grey.png", func(w io.Writer) error { return png.Encode(w, gray) }, func(i int) [3]uint8 { r := uint8(40 * (i % 5)); return [3]uint8{r, r, r} }},
		{"a.bmp", func(w io.Writer) error { return bmp.Encode(w, opaque) }, colour},
		{"a.tiff", func(w io.Writer) error { return tiff.Encode(w, m, nil) }, colour},
		{"a.gif", func(w io.Writer) error { // with a frame that is smaller than the image
			return gif.EncodeAll(w, &gif.GIF{Image: []*image.Paletted{paletted}, Delay: []int{0}, Config: image.Config{Width: 5, Height: 4, ColorModel: paletted.Palette}})
		}, func(i int) [3]uint8 {
			x, y := i%5, i/5
			switch {
			case x < 1 || x > 3 || y < 1 || y > 2, x == 2 && y == 1: // the decoder drops the colour of transparent pixels
				return [3]uint8{}
			}
			return [3]uint8{1, 2, 3}
		}},
	} {
		p, err := decode(t.Context(), Image{Path: testkit.Write(t, dir, c.name, encoded(t, c.encode))}, true)
		testkit.NoError(t, err)
		for i := range 20 {
			if got := [3]uint8(p.Pix[4*i:]); got != c.want(i) || p.Pix[4*i+3] != 255 {
				t.Errorf("%s: pixel %d is %v, expected %v", c.name, i, got, c.want(i))
			}
		}
	}
}

// A lossy WebP has luma from 16 to 235: this one, of 2 x 2 pixels, is white.
func TestWebPIsVideoRange(t *testing.T) {
	for _, c := range []struct{ y, cb, cr, r, g, b uint8 }{
		{235, 128, 128, 255, 255, 255},
		{16, 128, 128, 0, 0, 0},
		{81, 90, 240, 254, 0, 0},
		{145, 54, 34, 0, 255, 1},
	} {
		r, g, b := videoToRGB(c.y, c.cb, c.cr)
		testkit.Equal(t, fmt.Sprint(c), []uint8{r, g, b}, []uint8{c.r, c.g, c.b})
	}
}

// Chroma of half the resolution is interpolated, whatever the size of the image: a ramp
// stays within the rounding of JPEG of a ramp.
func TestJPEGChroma(t *testing.T) {
	for _, size := range []image.Point{{40, 30}, {41, 31}, {1, 1}, {2, 3}} {
		m := image.NewRGBA(image.Rectangle{Max: size})
		for i := range size.X * size.Y {
			m.SetRGBA(i%size.X, i/size.X, color.RGBA{uint8(100 + 3*(i%size.X)), uint8(100 + i/size.X), uint8(200 - 2*(i%size.X)), 255})
		}
		text := encoded(t, func(w io.Writer) error { return jpeg.Encode(w, m, &jpeg.Options{Quality: 100}) })
		p, err := decode(t.Context(), Image{Path: testkit.Write(t, t.TempDir(), "a.jpg", text)}, true)
		testkit.NoError(t, err)
		for i := range size.X * size.Y {
			c := m.RGBAAt(i%size.X, i/size.X)
			for j, v := range []uint8{c.R, c.G, c.B} {
				if d := int(p.Pix[4*i+j]) - int(v); max(d, -d) > 4 {
					t.Fatalf("%v: pixel %d is %v, expected %v", size, i, p.Pix[4*i:4*i+4], c)
				}
			}
		}
	}
}

// hugePNG is a valid header of an image of 60000 x 60000 pixels, and nothing else.
func hugePNG() string {
	b := []byte("IHDR")
	b = binary.BigEndian.AppendUint32(b, 60000)
	b = binary.BigEndian.AppendUint32(b, 60000)
	b = append(b, 8, 2, 0, 0, 0)
	return "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d" + string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

func TestBrokenImages(t *testing.T) {
	dir := t.TempDir()
	data := encoded(t, func(w io.Writer) error { return png.Encode(w, picture()) })
	long := encoded(t, func(w io.Writer) error { return png.Encode(w, image.NewGray(image.Rect(0, 0, 1, 300))) })
	out := make([]float32, 3*DefaultSize*DefaultSize)
	for _, c := range []struct {
		name, data, want string
	}{
		{"empty", "", "expected a JPEG, PNG, WebP, GIF, BMP or TIFF image, found an empty file"},
		{"text", "not an image", "found unknown format"},
		{"pointer", "version https://git-lfs.github.com/spec/v1\n", "found a git-LFS pointer. It stands for the file"},
		{"truncated", data[:len(data)-20], "expected a JPEG"},
		{"huge", hugePNG(), "expected an image of 1 to 64000000 pixels, found 60000 x 60000"},
		{"long", long, "expected a longer side of at most 200 times the shorter one, found 1 x 300 pixels"},
	} {
		path := testkit.Write(t, dir, c.name, c.data)
		testkit.WantError(t, Load(t.Context(), Image{Path: path}, Preprocessing(dataset.Crop, DefaultSize), out), path+": ", c.want)
	}
	testkit.WantError(t, Load(t.Context(), Image{Path: dir + "/none"}, Preprocessing(dataset.Crop, DefaultSize), out), dir+"/none: expected a file, found no such file")
}

func TestLoad(t *testing.T) {
	path := testkit.Write(t, t.TempDir(), "a.png", encoded(t, func(w io.Writer) error { return png.Encode(w, picture()) }))
	p := Preprocessing(dataset.Squash, 2)
	p.Mean, p.Std = [3]float64{0.5, 0, 0}, [3]float64{0.5, 1, 2}
	got := make([]float32, 12)
	// A square of 2 x 2 pixels is not resized.
	corner := encoded(t, func(w io.Writer) error { return png.Encode(w, picture().SubImage(image.Rect(1, 1, 3, 3))) })
	square := testkit.Write(t, t.TempDir(), "b.png", corner)
	testkit.NoError(t, Load(t.Context(), Image{Path: square}, p, got))
	for i, v := range got {
		x, y := 1+i/3%2, 1+i/6
		want := []float32{(float32(40*x)/255 - 0.5) / 0.5, float32(60*y) / 255, float32(200) / 255 / 2}[i%3]
		testkit.Equal(t, fmt.Sprintf("number %d", i), v, want)
	}
	testkit.Equal(t, "thumbnail", testkit.Must(Thumbnail(t.Context(), path, 3))(t).Bounds(), image.Rect(0, 0, 3, 2))
}

// named returns the ids and classes of images.
func named(list []Image) (names []string) {
	for _, m := range list {
		names = append(names, m.ID+" "+m.Class)
	}
	return names
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b/2.JPG", "b/10.jpeg", "a/x.webp", "a/notes.txt", "a/.hidden.png", ".git/x.png", "c/a b.tif"} {
		testkit.Write(t, dir, name, "")
	}
	got, warning, err := List(dir, false)
	testkit.NoError(t, err)
	testkit.WantText(t, warning, dir+": 1 .txt file not read. ")
	testkit.Equal(t, "path", got[0].Path, filepath.Join(dir, "a/x.webp"))
	testkit.Equal(t, "found", named(got), []string{"a/x.webp a", "b/10.jpeg b", "b/2.JPG b", "c/a b.tif c"})
	_, _, err = List(filepath.Join(dir, "b"), false)
	testkit.WantError(t, err, "expected a folder of images for each class, found images, such as 10.jpeg. A list (path,class)")
	_, _, err = List(filepath.Dir(dir), false)
	testkit.WantError(t, err, dir, "the images of one class")
	testkit.Write(t, dir, "b/more/x.png", "")
	_, _, err = List(dir, false)
	testkit.WantError(t, err, filepath.Join(dir, "b"), "the images of one class", "more")
	testkit.Write(t, dir, "@eaDir/b/thumb.jpg", "")
	testkit.Write(t, dir, "b/#recycle/2.jpg", "")
	testkit.NoError(t, os.Symlink("gone.jpg", filepath.Join(dir, "c", "link.jpg")))
	testkit.Write(t, dir, "x.png", "")
	got, _, err = List(dir, true)
	testkit.NoError(t, err)
	testkit.Equal(t, "all levels", named(got), []string{
		"x.png ", "a/x.webp a", "b/10.jpeg b", "b/2.JPG b", "b/more/x.png more", "c/a b.tif c", "c/link.jpg c",
	})
}

func TestReadList(t *testing.T) {
	dir := t.TempDir()
	testkit.Write(t, dir, "b/2.JPG", "")
	testkit.Write(t, dir, "x.png", "")
	photo := Image{ID: "b/2.JPG", Path: filepath.Join(dir, "b", "2.JPG"), Class: "two"}
	unknown := photo
	unknown.Class = ""
	for _, c := range []struct {
		text, column string
		classes      bool
		want         Image
		errs         []string
	}{
		{"path,class\nb/2.JPG,two\n", "", true, photo, nil},
		{"Class,Path\ntwo,b\\2.JPG\n", "", false, photo, nil}, // as Windows writes paths
		{"path,species,class\nb/2.JPG,two,Aves\n", "species", true, photo, nil},
		{"path\nb/2.JPG\n", "", false, unknown, nil},
		{"path\nb/2.JPG\n", "", true, photo, []string{"list.csv: line 1: expected " + ListForm + `, found "path"`}},
		{"path,species,class\nb/2.JPG,two,Aves\n", "", true, photo, []string{ListForm, `found "path,species,class"`}},
		{"path,label\nb/2.JPG,two\n", "", false, photo, []string{ListForm}},
		{"path,class\nb/2.JPG,two\n", "species", false, photo, []string{"expected a CSV file with the columns path and species"}},
		{"path,class\na.png,\na.png,x\n", "", true, photo, []string{"line 2, column class", "line 3, column path", "also on line 2"}},
	} {
		got, err := ReadList(t.Context(), testkit.Write(t, dir, "list.csv", c.text), "", c.column, c.classes)
		if c.errs != nil {
			testkit.WantError(t, err, c.errs...)
			continue
		}
		testkit.NoError(t, err)
		testkit.Equal(t, c.text, got, []Image{c.want})
	}
}

// What phones and browsers write beside the usual extensions is read where it is an image that
// can be read, and otherwise counted.
func TestListOfPhonesAndBrowsers(t *testing.T) {
	jpg := encoded(t, func(w io.Writer) error { return jpeg.Encode(w, picture(), nil) })
	dir := t.TempDir()
	for _, name := range []string{"jay/a.jfif", "jay/b.jpe", "jay/c.jpg_large", "jay/d", "jay/e.HEIC", "jay/cafe\u0301.jpg"} {
		testkit.Write(t, dir, name, jpg)
	}
	testkit.Write(t, dir, "jay/IMG_1", "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00")
	testkit.Write(t, dir, "__MACOSX/jay/._a.jpg", "")
	for _, name := range []string{"grebe/a.HEIC", "grebe/b.heic", "grebe/c.DNG", "jay/notes.txt", "jay/notes", "jay/.x.heic"} {
		testkit.Write(t, dir, name, "II*\x00")
	}
	list, warning, err := List(dir, false)
	testkit.NoError(t, err)
	testkit.Equal(t, "found", named(list), []string{
		"jay/a.jfif jay", "jay/b.jpe jay", "jay/c.jpg_large jay", "jay/caf\u00e9.jpg jay", "jay/d jay", "jay/e.HEIC jay",
	})
	testkit.Equal(t, "warning", warning, dir+": 1 .dng file, 2 .heic files, 1 .txt file, 2 files not read; no image that can be read of 1 class: grebe. Convert photographs to JPEG or PNG.")
	_, _, err = List(filepath.Join(dir, "grebe"), false)
	testkit.WantError(t, err, "expected images: .jpg", "found 1 .dng file, 2 .heic files, which are not read. Convert photographs to JPEG or PNG.")
	testkit.Write(t, dir, "M\xe9sange/a.jpg", jpg)
	_, _, err = List(dir, false)
	testkit.WantError(t, err, `"M\xe9sange"`, "expected UTF-8 without control characters")
}

// The eight orientations of EXIF data, in each format that has them, show the same picture.
func TestOrientation(t *testing.T) {
	seen := image.NewRGBA(image.Rect(0, 0, 64, 32)) // four fields of different grey
	for i := range 64 * 32 {
		level := uint8(200*(i%64/32) + 50*(i/1024))
		seen.SetRGBA(i%64, i/64, color.RGBA{level, level, level, 255})
	}
	jpg := func(m image.Image) string {
		return encoded(t, func(w io.Writer) error { return jpeg.Encode(w, m, &jpeg.Options{Quality: 100}) })
	}
	pngs := func(m image.Image) string { return encoded(t, func(w io.Writer) error { return png.Encode(w, m) }) }
	inverse := []int{1, 2, 3, 4, 5, 8, 7, 6} // which turns the picture to how it is stored
	for o := 1; o <= 8; o++ {
		stored := upright(seen, inverse[o-1])
		for name, order := range map[string]binary.AppendByteOrder{"II*\x00\x08\x00\x00\x00": binary.LittleEndian, "MM\x00*\x00\x00\x00\x08": binary.BigEndian} {
			exif := []byte(name)
			for _, v := range []uint16{1, 0x0112, 3} {
				exif = order.AppendUint16(exif, v)
			}
			exif = order.AppendUint16(order.AppendUint16(order.AppendUint32(exif, 1), uint16(o)), 0)
			segment := "Exif\x00\x00" + string(exif)
			chunk := string(binary.BigEndian.AppendUint32(nil, uint32(len(exif)))) + "eXIf" + string(exif)
			chunk += string(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(chunk[4:]))))
			j, p := jpg(stored), pngs(stored)
			for file, data := range map[string]string{
				"a.jpg": j[:2] + "\xff\xe0\x00\x04ab\xff\xe1" + string(binary.BigEndian.AppendUint16(nil, uint16(2+len(segment)))) + segment + j[2:],
				"a.png": p[:33] + chunk + p[33:],
			} {
				m := testkit.Write(t, t.TempDir(), file, data)
				got, err := decode(t.Context(), Image{Path: m}, true)
				testkit.NoError(t, err)
				testkit.Equal(t, fmt.Sprintf("%s, orientation %d", file, o), got.Rect, seen.Rect)
				for i := range got.Pix {
					if d := int(got.Pix[i]) - int(seen.Pix[i]); max(d, -d) > 2 {
						t.Fatalf("%s, orientation %d: pixel %d is %v, expected %v", file, o, i/4, got.Pix[i/4*4:i/4*4+4], seen.Pix[i/4*4:i/4*4+4])
					}
				}
			}
		}
	}
	for _, bad := range []string{"", "II*\x00\xff\xff\xff\xff", "MM\x00*\x00\x00\x00\x08\xff\xff"} {
		testkit.Equal(t, fmt.Sprintf("orientation in %q", bad), orientation([]byte(bad), "tiff"), 1)
	}
}

// Any bytes give an image or an *invalid.Error.
func FuzzDecode(f *testing.F) {
	for _, encode := range []func(io.Writer) error{
		func(w io.Writer) error { return png.Encode(w, picture()) },
		func(w io.Writer) error { return jpeg.Encode(w, picture(), nil) },
		func(w io.Writer) error { return gif.Encode(w, picture(), nil) },
		func(w io.Writer) error { return bmp.Encode(w, picture()) },
		func(w io.Writer) error { return tiff.Encode(w, picture(), nil) },
	} {
		f.Add([]byte(encoded(f, encode)))
	}
	f.Add([]byte(hugePNG()))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		if config, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil && config.Width*config.Height > 1<<20 {
			return // within the limit, but slow
		}
		p, err := decode(t.Context(), Image{Path: testkit.Write(t, dir, "fuzz", string(data))}, true)
		if e := (*invalid.Error)(nil); err != nil && !errors.As(err, &e) {
			t.Errorf("%v (%T)", err, err)
		}
		if err == nil && !p.Opaque() {
			t.Error("some pixels are transparent")
		}
	})
}

// Photographs of the same name in two folders are known by their paths.
func TestImagesOfTheSameName(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/1.png", "b/1.png", "b/2.png"} {
		testkit.Write(t, dir, name, "x")
	}
	t.Chdir(dir)
	list, _, err := ListPaths([]string{"a", "b"})
	testkit.NoError(t, err)
	testkit.Equal(t, "found", named(list), []string{"a/1.png ", "b/1.png ", "2.png "})
}
