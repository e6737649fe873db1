package images

import (
	"bytes"
	"encoding/binary"
	"image"
)

// orientationTag is the number of the field Orientation of EXIF and TIFF.
const orientationTag = 0x0112

// orientation returns how the pixels of an image file are stored, from 1 (upright) to 8, as
// the EXIF data of JPEG, PNG and WebP and the tags of TIFF say. It is 1 if they do not.
func orientation(data []byte, format string) int {
	o := 1
	switch format {
	case "jpeg":
		o = orientationOf(jpegEXIF(data))
	case "png":
		o = orientationOf(chunk(data, 8, 4, 12, binary.BigEndian, "eXIf"))
	case "webp":
		o = orientationOf(bytes.TrimPrefix(chunk(data, 12, 0, 8, binary.LittleEndian, "EXIF"), []byte("Exif\x00\x00")))
	case "tiff":
		o = orientationOf(data)
	}
	return o
}

// jpegEXIF returns the EXIF data of a JPEG file: that of the segment APP1 before the pixels.
func jpegEXIF(data []byte) []byte {
	const startOfScan, app1 = 0xda, 0xe1
	for at := 2; at+4 <= len(data) && data[at] == 0xff; {
		marker, size := data[at+1], int(binary.BigEndian.Uint16(data[at+2:]))
		switch {
		case marker == 0xff: // a byte that fills up
			at++
			continue
		case marker == startOfScan || size < 2 || at+2+size > len(data):
			return nil
		}
		if exif, ok := bytes.CutPrefix(data[at+4:at+2+size], []byte("Exif\x00\x00")); ok && marker == app1 {
			return exif
		}
		at += 2 + size
	}
	return nil
}

// chunk returns the content of the first chunk with a name. Chunks begin at start; each has a
// name and a size of 4 bytes, in this or the other order, and overhead bytes beside the content.
// Those of RIFF have an even length.
func chunk(data []byte, start, nameAt, overhead int, order binary.ByteOrder, name string) []byte {
	for at := start; at+overhead <= len(data); {
		size := int(order.Uint32(data[at+4-nameAt:]))
		if size < 0 || size > len(data)-at-overhead {
			return nil
		}
		if string(data[at+nameAt:at+nameAt+4]) == name {
			return data[at+8 : at+8+size]
		}
		at += overhead + size
		if nameAt == 0 {
			at += size % 2
		}
	}
	return nil
}

// orientationOf returns the orientation of the first directory of TIFF data, which EXIF data are.
func orientationOf(data []byte) int {
	var order binary.ByteOrder = binary.LittleEndian
	if len(data) < 8 {
		return 1
	}
	if data[0] == 'M' {
		order = binary.BigEndian
	}
	at := int(order.Uint32(data[4:]))
	if at < 8 || at > len(data)-2 {
		return 1
	}
	fields := data[at+2:]
	for range order.Uint16(data[at:]) {
		if len(fields) < 12 {
			break
		}
		if order.Uint16(fields) == orientationTag {
			if o := int(order.Uint16(fields[8:])); o >= 1 && o <= 8 {
				return o
			}
			break
		}
		fields = fields[12:]
	}
	return 1
}

// upright returns an image as people see it, from its stored pixels and their orientation: 2 is
// mirrored, 3 turned by 180 degrees, 4 both; 5 to 8 exchange rows and columns.
func upright(stored *image.RGBA, orientation int) *image.RGBA {
	if orientation == 1 {
		return stored
	}
	w, h := stored.Rect.Dx(), stored.Rect.Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if orientation > 4 {
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			from, line := x, y
			if orientation > 4 {
				from, line = y, x
			}
			switch orientation {
			case 2, 3, 7, 8:
				from = w - 1 - from
			}
			switch orientation {
			case 3, 4, 6, 7:
				line = h - 1 - line
			}
			copy(out.Pix[out.PixOffset(x, y):][:4], stored.Pix[stored.PixOffset(from, line):][:4])
		}
	}
	return out
}
