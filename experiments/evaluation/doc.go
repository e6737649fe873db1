// Package evaluation measures how well models, or scores that any program wrote, predict
// classes: accuracy, generalised zero-shot accuracy, calibration and coverage.
//
// The gamma of calibrated stacking and the temperature of the probabilities are chosen
// by validation: for models by runs of the dev stage, for files of scores by other
// files. Training is not part of it.
package evaluation
