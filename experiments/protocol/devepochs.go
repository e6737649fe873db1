package protocol

// DevEpochs is how many epochs the dev stage has at most.
func (c Config) DevEpochs() int {
	if c.Epochs == 0 {
		return devEpochs
	}
	return c.Epochs
}
