package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

const heading = `Third-party notices of stackagent

stackagent itself is under the licence in the file LICENSE. Its binaries link the
modules below; the pages that shadow writes and serves have JavaScript libraries. The
table names each with its version, its licences (SPDX) and what it is part of; all
texts follow. Written by scripts/notices.

Portions of this software are copyright (c) The FreeType Project
(www.freetype.org). All rights reserved.

`

const ruler = "--------------------------------------------------------------------------------\n"

// text is a licence's text and the files that hold it.
type text struct {
	content string
	of      []string
}

// render writes the table, then every text once.
func render(modules []*module) []byte {
	var out bytes.Buffer
	out.WriteString(heading)
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "module\tversion\tlicences\tlinked into")
	for _, m := range modules {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.path, cmp.Or(m.version, "-"), strings.Join(m.licences, " AND "), strings.Join(m.in, ", "))
	}
	w.Flush() // to memory
	for _, t := range texts(modules) {
		fmt.Fprintf(&out, "\n%s%s\n%s\n%s\n", ruler, strings.Join(t.of, "\n"), ruler, t.content)
	}
	return out.Bytes()
}

// texts are the different texts, in the order of the modules.
func texts(modules []*module) []*text {
	var all []*text
	seen := map[string]*text{}
	for _, m := range modules {
		for _, name := range slices.Sorted(maps.Keys(m.texts)) {
			content := m.texts[name]
			t := seen[content]
			if t == nil {
				t = &text{content: content}
				seen[content] = t
				all = append(all, t)
			}
			t.of = append(t.of, m.path+": "+name)
		}
	}
	return all
}
