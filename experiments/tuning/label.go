package tuning

import "fmt"

// Label names the method and, for LAGO, the variant that stands for it.
func (m Method) Label() string {
	if m.Name == LAGOMethod {
		return fmt.Sprintf("LAGO (%s)", m.Variant)
	}
	return m.Title
}
