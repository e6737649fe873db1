package images

import (
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

func setBoxes(file string, all []Image) ([]Image, error) {
	list, _, err := SetBoxes(context.Background(), file, all)
	return list, err
}

func TestBoxes(t *testing.T) {
	dir := t.TempDir()
	photo := testkit.Write(t, dir, "a.png", encoded(t, func(w io.Writer) error { return png.Encode(w, image.NewGray(image.Rect(0, 0, 40, 20))) }))
	all := []Image{{ID: "a.png", Path: photo}, {ID: "b.png", Path: photo, Class: "jay"}}
	for _, c := range []struct{ name, file, want, note string }{
		{"columns", "File_name,x,y,Width,height,score\nother.png,0,0,1,1,1\na.png,1,2,3.5,4,0\nb.png,5,6,7,8,0\n", "a.png  {1 2 3.5 4}, b.png jay {5 6 7 8}", "columns ignored: score"},
		{"corners, several, sides of images", "path,width,height,xmin,ymin,XMAX,ymax\nb.png,40,20,1,2,4,5\na.png,40,20,1,2,4,3\na.png,40,20,6,7,10,8\n", "a.png  {1 2 3 1}, a.png#2  {6 7 4 1}, b.png jay {1 2 3 3}", "columns ignored: width, height"},
		{"other corners", "path,X1,Y1,X2,Y2\na.png,1,2,4,3\nb.png,1,2,4,3", "a.png  {1 2 3 1}, b.png jay {1 2 3 1}", ""},
		{
			"COCO", `{"info":{},"images":[{"id":7,"file_name":"a.png","width":40},{"id":"x","file_name":"b.png"}],"categories":[{"id":3,"name":"kea"}],"annotations":[
			{"image_id":7,"category_id":3,"bbox":[1,2,3,4],"iscrowd":0},{"image_id":7,"category_id":3,"bbox":[0,0,40,20],"iscrowd":1},{"image_id":7,"category_id":3,"bbox":[5,6,7,8]},{"image_id":"x","category_id":3,"bbox":[1,1,2,2]}]}`,
			"a.png kea {1 2 3 4}, a.png#2 kea {5 6 7 8}, b.png jay {1 1 2 2}", "",
		},
		{"MegaDetector", `{"detection_categories":{"1":"animal","2":"person"},"images":[{"file":"a.png","detections":[{"category":"1","conf":0.9,"bbox":[0.25,0.5,0.5,0.25]},{"category":"2","conf":0.9,"bbox":[0,0,1,1]}]},
			{"file":"b.png","detections":[{"category":"1","conf":0.1,"bbox":[0,0,1,1]}]}]}`, "a.png  {10 10 20 5}", "1 detection of animals with a confidence of at least 0.2, 1 image without a box left out"},
		{"", `{"a.png":[1,2,3,4]}`, "", "expected boxes in CSV, or JSON of COCO"},
		{"", `[[1,2]]`, "", "found other JSON"},
		{"", `{"images":[{"file_name":"a.png"}]}`, "", "images, number 1: expected boxes in CSV, or JSON of COCO"},
		{"", `{"images":[{"id":1,"file_name":"a.png"}],"annotations":[{"image_id":1,"segmentation":[]}]}`, "", "annotations, number 1: expected x, y, width and height"},
		{"", `{"images":[{"id":1,"file_name":"a.png"}],"annotations":[{"image_id":2,"bbox":[1,2,3,4]}]}`, "", "expected the id of one of the images"},
		{"", "path,x,y,width,height\na.png,0,a,0,1\nb.png,0,0,1,1\n", "", "line 2, column y"},
		{"", "path,x,y,width,height\na.png,0,0,1,1\n", "", `"b.png": expected a bounding box for every image`},
		{"", "path,x,y,w,h\na.png,1,2,3,4\n", "", "expected a column width and a column height"},
	} {
		got, note, err := SetBoxes(t.Context(), testkit.Write(t, dir, "boxes", c.file), all)
		if c.name == "" {
			testkit.WantError(t, err, c.note)
			continue
		}
		testkit.NoError(t, err)
		testkit.Equal(t, c.name, boxed(got), c.want)
		if c.note != "" {
			c.note = dir + "/boxes: " + c.note
		}
		testkit.Equal(t, c.name+": note", note, c.note)
	}
	// One table of images and boxes, in which an image has two classes.
	list := testkit.Write(t, dir, "list.csv", "image,label,x,y,width,height\na.png,kea,1,2,3,4\na.png,jay,5,6,7,8\n")
	got := testkit.Must(readList(list))(t)
	testkit.Equal(t, "boxes of a list", boxed(got), "a.png kea {1 2 3 4}, a.png#2 jay {5 6 7 8}")
	testkit.Equal(t, "file", got[1].Path, photo)
	testkit.Equal(t, "the same table", boxed(testkit.Must(setBoxes(list, got))(t)), boxed(got))
}

// boxed is the id, class and box of images.
func boxed(list []Image) (text string) {
	for i, m := range list {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %s %v", m.ID, m.Class, *m.Box)
	}
	return text
}

// Boxes in other units than pixels, and two corners, are refused; those in pixels are not.
func TestUnitsOfBoxes(t *testing.T) {
	dir := t.TempDir()
	large := testkit.Write(t, dir, "a.png", encoded(t, func(w io.Writer) error { return png.Encode(w, image.NewGray(image.Rect(0, 0, 400, 300))) }))
	for _, c := range []struct{ boxes, want string }{
		{"100,50,200,100", ""},
		{"0,0,400,300", ""},
		{"25,16.7,50,33.3", "percent"},
		{"0,0,100,100", "percent"},
		{"0.25,0.167,0.5,0.333", "fractions"},
		{"100,50,380,290", "x2 and y2"},
		{"0.4,0.3,0.9,0.95", "corners in fractions"},
		{"350,250,200,150", "1 of the first 1 that end outside of their images. Are they of the images in another size"},
	} {
		file := testkit.Write(t, dir, "boxes.csv", "path,x,y,width,height\na.png,"+c.boxes+"\n")
		_, err := setBoxes(file, []Image{{ID: "a.png", Path: large}})
		if c.want == "" {
			testkit.NoError(t, err)
		} else {
			testkit.WantError(t, err, file+": boxes: expected x, y, width and height in pixels", c.want)
		}
	}
}
