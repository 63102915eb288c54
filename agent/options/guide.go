package options

import (
	"fmt"
	"path"
	"strings"
)

// GuideTable returns the table of options for the user guide, in Markdown.
func GuideTable() string {
	var b strings.Builder
	b.WriteString("| key | default | flag of | meaning |\n|---|---|---|---|\n")
	for _, o := range all {
		meaning := strings.ReplaceAll(o.Help, "|", `\|`)
		if o.See != "" {
			meaning += fmt.Sprintf(" ([%s](%s))", strings.TrimSuffix(path.Base(o.See), ".md"), o.See)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", o.Key, code(o.Default), o.Verbs.guide(o.Flag), meaning)
	}
	return b.String()
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// guide names the verbs that have the flag, and the flag.
func (v Verbs) guide(flag string) string {
	var verbs []string
	if v&Run != 0 {
		verbs = append(verbs, "run")
	}
	if v&Attach != 0 {
		verbs = append(verbs, "attach")
	}
	if len(verbs) == 0 {
		return ""
	}
	return strings.Join(verbs, ", ") + ": " + code("--"+flag)
}
