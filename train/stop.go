package train

// Status says why a run ended.
type Status string

// The ways to end.
const (
	Patience  Status = "patience"   // no better epoch for as long as the patience lasts
	Epochs    Status = "epochs"     // all epochs that were asked for
	Converged Status = "converged"  // nothing would change any more: a closed form, or an optimum
	NotFinite Status = "not finite" // a term of the loss was infinite or no number
	Cancelled Status = "cancelled"  // from outside; the same run goes on from its checkpoint
)

// best is the epoch with the highest val accuracy so far, the first of equals.
type best struct {
	Epoch    int     `json:"epoch"` // 0 before the first
	Accuracy float64 `json:"accuracy"`
}

// rounding is how far apart two means of the same accuracies may come out, added up
// from other classes. It is far less than one sample can make.
const rounding = 1e-12

// improve takes in an epoch and says whether it is the best so far.
func (b *best) improve(epoch int, accuracy float64) bool {
	if b.Epoch > 0 && accuracy <= b.Accuracy+rounding {
		return false
	}
	*b = best{epoch, accuracy}
	return true
}
