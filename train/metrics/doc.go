// Package metrics evaluates scores: accuracy, generalised zero-shot accuracy over seen and
// unseen classes, calibration of probabilities, and confidence intervals over classes.
//
// Scores have one row per sample and one column per class, the higher the better; labels
// are columns. All functions are pure and independent of models, data sets and files.
// They expect input that passes CheckScores and CheckLabels.
//
// Probabilities are softmax(s/T) of scores s. Log-probabilities are scores with the
// temperature T = 1; other scores have no probabilities until a temperature is fitted.
//
// Sources: per-class accuracy and the generalised setting, Xian et al., "Zero-Shot
// Learning - A Comprehensive Evaluation of the Good, the Bad and the Ugly" (2018);
// calibrated stacking and the seen-unseen curve, Chao et al., "An Empirical Study
// and Analysis of Generalized Zero-Shot Learning for Object Recognition in the Wild"
// (ECCV 2016); calibration and temperature, Guo et al., "On Calibration of Modern
// Neural Networks" (ICML 2017); risk and coverage, Geifman & El-Yaniv, "Selective
// Classification for Deep Neural Networks" (NeurIPS 2017); correction of p values, Holm, "A
// Simple Sequentially Rejective Multiple Test Procedure" (1979).
package metrics
