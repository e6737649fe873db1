// Package catalog finds a data set by its name: one that the program makes, or a
// folder of the user's. Whatever it returns has passed dataset.Check.
//
// It knows where data sets are, tells the layout of a folder by its files, and says
// what is missing where one is not; how a folder is read is the business of packages
// openlayout and xlsa17.
package catalog
