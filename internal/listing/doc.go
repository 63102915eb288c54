package listing

import (
	"fmt"
	"strings"
)

var kindNames = map[Kind]string{Int: "integer", Uint: "integer", Float: "number", Bool: "true or false", Name: "text", Word: "text", Object: "object"}

// Markdown returns the columns as a table for the docs.
func Markdown[R any](columns []Column[R]) string {
	var b strings.Builder
	b.WriteString("| column | kind | empty | meaning |\n|---|---|---|---|\n")
	for _, c := range columns {
		if c.csvName() == Absent {
			continue
		}
		empty := ""
		if c.Optional {
			empty = "possible"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.csvName(), kindNames[c.Kind], empty, strings.ReplaceAll(c.Doc, "|", `\|`))
	}
	return b.String()
}
