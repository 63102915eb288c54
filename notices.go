// Package stackagent holds the texts that every distribution of its binaries
// passes on.
package stackagent

import _ "embed"

// Licence is the licence of this project.
//
//go:embed LICENSE
var Licence string

// Notices lists the modules that the binaries link, and their licences.
// scripts/notices writes it.
//
//go:embed THIRD_PARTY_NOTICES
var Notices string
