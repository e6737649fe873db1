// Package robustness measures test accuracy when class descriptions are noisy (the
// paper's figure A.1) or partial.
package robustness
