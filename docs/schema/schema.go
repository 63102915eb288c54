// Package schema holds the JSON Schemas of what the verbs of shadow print with --format json. The test TestSchemas of
// cmd/shadow writes them.
package schema

import (
	"embed"
	"strings"
)

//go:embed *.json
var files embed.FS

// Of is the schema of a verb, such as "stats" or "tgp fine"; false: it has none.
func Of(verb string) ([]byte, bool) {
	b, err := files.ReadFile(File(verb))
	return b, err == nil
}

// File is the name of the file with the schema of a verb.
func File(verb string) string { return strings.ReplaceAll(verb, " ", "-") + ".json" }
