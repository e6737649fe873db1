// Package webpage has the layout and style that the HTML pages of the program share:
// one file that opens anywhere without a network, in light and dark mode, on screens
// and on paper. The packages that use it define what the pages show.
package webpage
