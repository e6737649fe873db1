// Package metrics judges scores: how often they name the right class, how seen and
// unseen classes fare side by side, and how far their probabilities can be trusted.
//
// Scores are a row a sample and a column a class, the higher the better; labels are
// columns. All functions are pure: the package knows no model, data set or file, so
// that the scores of any method, of this program or another, are judged alike. They
// expect what Check accepts.
//
// Probabilities are softmax(s/T) of scores s. Log-probabilities are such scores with
// the temperature T = 1; other scores, as many methods give, have no probabilities
// before a temperature is fitted to them.
//
// Sources: per-class accuracy and the generalised setting, Xian et al., "Zero-Shot
// Learning - A Comprehensive Evaluation of the Good, the Bad and the Ugly" (2018);
// calibrated stacking and the seen-unseen curve, Chao et al., "An Empirical Study
// and Analysis of Generalized Zero-Shot Learning for Object Recognition in the Wild"
// (ECCV 2016); calibration and temperature, Guo et al., "On Calibration of Modern
// Neural Networks" (ICML 2017); risk and coverage, Geifman & El-Yaniv, "Selective
// Classification for Deep Neural Networks" (NeurIPS 2017).
package metrics
