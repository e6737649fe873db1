// Package evaluation evaluates models and files of scores: accuracy, generalised
// zero-shot accuracy, calibration and coverage.
package evaluation
