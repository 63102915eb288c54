// Package text holds the small helpers for what a person reads: counted nouns,
// messages on one line, and names of a foreign program made safe to show on a
// terminal, in a page or in a spreadsheet. What is stored stays as it is.
package text
