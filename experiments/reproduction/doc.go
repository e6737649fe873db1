// Package reproduction runs the paper's protocol for every variant on one data
// set, tables 1 and A.1.
package reproduction
