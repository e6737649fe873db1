// Package explain explains one prediction of a LAGO model by its attribute groups, as
// the paper's example figure does: how much each group favours the predicted class over
// another one, which detected and described attributes contribute, and which detections
// would change the prediction.
//
// The numbers are those of package model in float64; the contributions of the groups add
// up to the log odds between the two classes. They are written as text, JSON or an HTML
// page. Package predict predicts many samples without explaining them.
package explain
