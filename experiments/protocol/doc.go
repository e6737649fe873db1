// Package protocol is the paper's protocol for one configuration over its seeds: the dev
// stage trains on the train classes and stops by the validation classes, its average
// curve gives the number of epochs, and the test stage trains on both and is evaluated
// once on the test classes. It holds the settings of a run, their presets and their
// JSON. Package main turns the settings into flags.
package protocol
