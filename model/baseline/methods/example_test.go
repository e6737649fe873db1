package methods_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/model/baseline/methods"
)

func Example() {
	m, err := methods.Find("eszsl")
	if err != nil {
		log.Fatal(err)
	}
	s, err := methods.Spec{Method: m.Name, Settings: m.Default}.Set("gamma", json.RawMessage("10"))
	if err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Title, string(text))
	_, err = s.Set("gama", json.RawMessage("10"))
	fmt.Println(err)
	// Output:
	// ESZSL {"method":"eszsl","settings":{"gamma":10,"lambda":1,"normalise":true}}
	// eszsl: expected one of gamma, lambda, normalise, found "gama". Did you mean gamma?
}
