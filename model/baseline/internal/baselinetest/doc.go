// Package baselinetest is what the tests of several methods share: small matrices,
// examples to learn from, and comparisons of numbers.
//
// It is test support only, which nothing but tests imports; they are also its
// examples of use. What one method alone needs stays with the tests of that method.
package baselinetest
