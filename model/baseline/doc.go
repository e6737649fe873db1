// Package baseline defines what the baselines of LAGO have in common: Hyperparameters
// that create a Learner, which is trained on Examples one epoch at a time, and the Model
// that it returns, which scores samples for any described classes.
//
// The baselines are in the packages below: dap (DAP and IAP), eszsl, ranking (ALE, SJE
// and DeViSE), synclassifier (SynC) and kernelalign (kernel alignment). Package methods
// finds them by name. To add a baseline, implement Hyperparameters and add it to
// methods.All; the tests of package methods then cover the contract.
//
// Bilinear is the scoring model shared by ESZSL, ALE, SJE and DeViSE. Package linear
// fits the linear classifiers of DAP, IAP and SynC.
//
// The package reads no files and does not search hyperparameters: it declares which
// values to search, and package experiments/tuning runs the search.
package baseline
