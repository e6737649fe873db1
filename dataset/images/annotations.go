package images

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// maxAnnotations is the largest size of a file of boxes in bytes.
const maxAnnotations = 1 << 28

// leastConfidence is that of detections of MegaDetector that count, whose files have many that are wrong.
const leastConfidence = 0.2

// annotations are what is read of the JSON of COCO (images, annotations and categories) and of MegaDetector
// (images with detections). IDs are numbers or text.
type annotations struct {
	Images []struct {
		ID         json.RawMessage `json:"id"`
		FileName   string          `json:"file_name"`
		File       string          `json:"file"`
		Detections []struct {
			Category   string    `json:"category"`
			Confidence float64   `json:"conf"`
			Box        []float64 `json:"bbox"`
		} `json:"detections"`
	} `json:"images"`
	Annotations []struct {
		Image    json.RawMessage `json:"image_id"`
		Category json.RawMessage `json:"category_id"`
		Box      []float64       `json:"bbox"`
		Crowd    int             `json:"iscrowd"`
	} `json:"annotations"`
	Categories []struct {
		ID   json.RawMessage `json:"id"`
		Name string          `json:"name"`
	} `json:"categories"`
	DetectionCategories map[string]string `json:"detection_categories"`
}

// readAnnotations reads the boxes of COCO or MegaDetector.
func readAnnotations(file string, data []byte) (*boxes, error) {
	const want = "boxes in CSV, or JSON of COCO (images, annotations) or MegaDetector (images with detections)"
	var a annotations
	if err := json.Unmarshal(data, &a); err != nil || len(a.Images) == 0 {
		return nil, &invalid.Error{Where: file, Want: want, Got: "other JSON"}
	}
	b := &boxes{of: map[string]*Box{}, classes: map[string]string{}, without: map[string]bool{}}
	count := map[string]int{} // of the boxes of an image
	add := func(field, id, class string, v []float64) error {
		if len(v) != 4 || !(v[2] > 0 && v[3] > 0) {
			return &invalid.Error{
				Where: file, Field: field, Want: "x, y, width and height, with these above 0", Got: fmt.Sprint(v),
			}
		}
		count[id]++
		id = part(id, count[id])
		b.of[id], b.classes[id] = &Box{v[0], v[1], v[2], v[3]}, class
		return nil
	}
	coco := a.Annotations != nil
	files, names, ids := map[string]string{}, map[string]string{}, []string(nil)
	for i, m := range a.Images {
		id := dataset.Name(filepath.ToSlash(m.File))
		if coco {
			id = dataset.Name(filepath.ToSlash(m.FileName))
			files[string(m.ID)] = id
		}
		if id == "" || !coco && m.Detections == nil && a.DetectionCategories == nil {
			return nil, &invalid.Error{
				Where: file, Field: fmt.Sprintf("images, number %d", i+1), Want: want, Got: "another form",
			}
		}
		ids = append(ids, id)
		for j, d := range m.Detections {
			if d.Confidence < leastConfidence || !isAnimal(d.Category, a.DetectionCategories) {
				continue
			}
			if err := add(fmt.Sprintf("%s, detection %d", id, j+1), id, "", d.Box); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range a.Categories {
		name, want := dataset.CheckName(c.Name)
		if want != "" {
			return nil, &invalid.Error{Where: file, Field: "categories", Want: want, Got: invalid.Quote(name)}
		}
		names[string(c.ID)] = name
	}
	for i, x := range a.Annotations {
		field := fmt.Sprintf("annotations, number %d", i+1)
		id := files[string(x.Image)]
		if id == "" {
			return nil, &invalid.Error{
				Where: file, Field: field, Want: "the id of one of the images", Got: invalid.Quote(string(x.Image)),
			}
		}
		if x.Crowd != 0 { // of several together
			continue
		}
		if err := add(field, id, names[string(x.Category)], x.Box); err != nil {
			return nil, err
		}
	}
	if b.fractions = !coco; b.fractions {
		b.notes = []string{fmt.Sprintf("%s of animals with a confidence of at least %g",
			format.Count(len(b.of), "detection"), leastConfidence)}
	}
	for _, id := range ids {
		b.without[id] = count[id] == 0
	}
	return b, nil
}

// isAnimal reports whether a category of MegaDetector is that of animals: the others are people and vehicles.
func isAnimal(category string, names map[string]string) bool {
	if name, known := names[category]; known {
		return name == "animal"
	}
	return category == "1"
}
