// Package webpage is what the pages that the program writes have in common: one
// file that opens anywhere without a network, in light and dark, on screens and on
// paper.
//
// It knows how a page looks, and nothing of what is on it. Package browser, below
// it, looks at pages in tests.
package webpage
