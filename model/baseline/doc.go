// Package baseline says what it takes to be a method that LAGO is compared with: a
// Learner that is trained on Examples an epoch at a time, and the Model that it
// comes to, which scores samples for descriptions of any classes as LAGO does.
//
// The packages below it are the methods, each as its authors define it: dap (and
// IAP), eszsl, ranking (ALE, SJE, DeViSE), synclassifier (SynC) and kernelalign (the
// kernels of Zhang & Koniusz). Package methods finds them by name; bilinear is the
// map that eszsl and ranking come to, linear the classifiers behind dap and
// synclassifier.
//
// It knows no file and no flag, and does not choose settings: a method names the
// ones that are worth searching, and package experiments searches them.
package baseline
