// Package methods lists the baselines and finds them by name. A Spec is a baseline with
// its hyperparameters, as configuration files and flags set them.
package methods
