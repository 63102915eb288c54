package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"stackagent/shadow/experiment/suite"
)

// coordinate finds the version in a Maven coordinate.
var coordinate = regexp.MustCompile(`[\w.-]+:[\w.-]+:(\d[\w.-]*)`)

// version is that of the first artifact that prepare: fetches.
func version(p suite.Program) string {
	text := strings.Join(p.Prepare, " ")
	if script, err := os.ReadFile(filepath.Join(p.Dir, p.Prepare[0])); err == nil {
		text += string(script)
	}
	if m := coordinate.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return "Debian's"
}

func jdks(j suite.JDKs) string {
	switch {
	case j == suite.JDKs{}:
		return "any"
	case j.Max == 0:
		return fmt.Sprintf("%d and newer", j.Min)
	case j.Max == j.Min:
		return fmt.Sprint(j.Min)
	}
	return fmt.Sprintf("%d to %d", j.Min, j.Max)
}

// tables are the generated parts of the page by their names.
func tables() (map[string]string, error) {
	s, err := suite.Read(files[0])
	if err != nil {
		return nil, err
	}
	var programs, keys, words strings.Builder
	programs.WriteString("| program | version | what it does, what is checked | licence | JDK |\n|---|---|---|---|---|\n")
	for _, p := range s.Programs {
		fmt.Fprintf(&programs, "| %s | %s | %s | %s | %s |\n", p.Name, version(p), p.What, p.Licence, jdks(p.JDK))
	}
	keys.WriteString("| key | what it is | example |\n|---|---|---|\n")
	for _, k := range suite.Keys {
		fmt.Fprintf(&keys, "| `%s` | %s | `%s` |\n", k.Name, k.Doc, k.Example)
	}
	words.WriteString("| word | stands for |\n|---|---|\n")
	for _, w := range suite.Words {
		fmt.Fprintf(&words, "| `{%s}` | %s |\n", w.Name, w.Doc)
	}
	return map[string]string{"programs": programs.String(), "keys": keys.String(), "words": words.String()}, nil
}

// page is the text of the page with its generated parts made anew.
func page(text string) (string, error) {
	all, err := tables()
	if err != nil {
		return "", err
	}
	for name, table := range all {
		begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			return "", fmt.Errorf("the page has no part %q", name)
		}
		text = before + begin + table + end + after
	}
	return text, nil
}

func writeDocs(path string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := page(string(old))
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
