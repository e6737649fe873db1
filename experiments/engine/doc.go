// Package engine runs plans: arms (a method with settings, or several among which the
// validation classes choose) by parts (divisions of the classes) by stages (dev and test).
// All studies that train are plans. It prints nothing.
//
// The dev stage trains on the train classes and stops by the validation classes; its average
// curve gives the number of epochs. The test stage trains on both and is evaluated once on the
// test classes. Where a plan asks for it, settings are searched on the dev stage first
// (supplement A of the paper), by the same search for LAGO and for every baseline.
package engine
