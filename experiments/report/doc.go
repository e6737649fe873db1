// Package report shows what folders of trials hold, in one HTML file that opens
// anywhere without a network, and in pictures that can be had as files.
//
// It reads what trials logged and what `lago-train noise` and `lago-train partial`
// printed, and trains nothing. A section whose trials are not there names the command
// that makes them.
package report
