package dap

// What tests take apart.
var (
	ThresholdsOf = thresholdsOf
	Binary       = binary
	Shares       = shares
	LogisticLoss = logisticLoss
	SoftmaxLoss  = softmaxLoss
)
