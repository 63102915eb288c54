package page

import _ "embed"

// Script is the page's bundle, with the licences of the libraries in it.
//
//go:embed dist/page.js
var Script string

// Style is its style sheet.
//
//go:embed dist/page.css
var Style string
