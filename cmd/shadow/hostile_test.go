package main

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"golang.org/x/net/html"

	"stackagent/internal/text"
	"stackagent/shadow/store"
	"stackagent/shadow/store/storetest"
)

func hostileSession(t *testing.T, root string, names []string) string {
	t.Helper()
	dir, err := storetest.Hostile(root, names)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// printed checks what goes to a terminal: nothing in it but lines of text (a
// tab does no harm; the files of figures have their own).
func printed(t *testing.T, what, output string) {
	t.Helper()
	if i := strings.IndexFunc(output, func(r rune) bool { return r != '\n' && r != '\t' && text.Hidden(r) }); i >= 0 {
		t.Errorf("%s: a terminal would obey %q", what, output[i:min(len(output), i+20)])
	}
}

func TestHostileNames(t *testing.T) {
	names := slices.Sorted(maps.Values(storetest.Attacks))
	plain := make([]string, len(names))
	for i := range plain {
		plain[i] = fmt.Sprint("plain", i)
	}
	dir, harmlessDir := hostileSession(t, t.TempDir(), names), hostileSession(t, t.TempDir(), plain)
	for _, args := range [][]string{{"stats"}, {"hotspots"}, {"hotspots", "--by", "thread"}, {"hotspots", "--by", "context"}, {"tasks"}, {"threads"}} {
		for _, format := range []string{"table", "csv", "json"} {
			command := func(dir string) string {
				flags := append(slices.Clone(args), dir, "--format", format)
				if args[0] != "stats" {
					flags = append(flags, "--top", "1000")
				}
				code, out, errs := shadow(t, nil, flags...)
				if code != 0 {
					t.Fatalf("%q: exit code %d: %s", flags, code, errs)
				}
				printed(t, strings.Join(args, " ")+" "+format, out+errs)
				return out
			}
			out, harmlessOut := command(dir), command(harmlessDir)
			switch format {
			case "csv":
				checkCSV(t, args[0], out)
			case "json":
				checkJSON(t, args[0], names, out)
			}
			// stats lists findings, of which long names may leave out some
			if got, want := strings.Count(out, "\n"), strings.Count(harmlessOut, "\n"); got != want && format == "table" && args[0] != "stats" {
				t.Errorf("%q: names changed the number of lines from %d to %d", args, want, got)
			}
		}
	}
	checkStacks(t, dir, len(names))
	checkReport(t, dir)
}

// checkStacks: a line is a stack, and the last word of it its weight; a profile can be read.
func checkStacks(t *testing.T, dir string, n int) {
	t.Helper()
	code, out, errs := shadow(t, nil, "hotspots", dir, "--format", "collapsed")
	printed(t, "collapsed", out+errs)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if code != 0 || len(lines) != n-1 { // one has a kind of its own
		t.Errorf("collapsed: exit code %d, %d lines, want %d: %s", code, len(lines), n-1, errs)
	}
	for _, line := range lines {
		at := strings.LastIndexByte(line, ' ')
		if strings.Count(line, ";") != 4 || strings.Trim(line[at+1:], "0123456789") != "" {
			t.Errorf("collapsed: line %q", line)
		}
	}
	file := filepath.Join(t.TempDir(), "p.pb.gz")
	if code, out, errs := shadow(t, nil, "hotspots", dir, "--format", "pprof", "-o", file); code != 0 || out != "" {
		t.Fatalf("pprof: exit code %d: %s%s", code, out, errs)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if p, err := profile.Parse(f); err != nil || len(p.Sample) != n-1 {
		t.Errorf("pprof: %v, %v", p, err)
	}
}

// checkCSV: every row has the columns of the header, and no cell is a formula,
// with whichever separator a spreadsheet reads the file.
func checkCSV(t *testing.T, what, text string) {
	t.Helper()
	for _, comma := range []rune{',', ';'} {
		r := csv.NewReader(strings.NewReader(text))
		r.Comma, r.LazyQuotes = comma, comma != ','
		if comma != ',' {
			r.FieldsPerRecord = -1
		}
		rows, err := r.ReadAll()
		if err != nil {
			t.Fatalf("%s csv with %q: %v", what, comma, err)
		}
		for _, row := range rows {
			for _, cell := range row {
				c := strings.TrimLeft(cell, " \t\r\n\"\u00a0?")
				if strings.HasPrefix(c, "-") && strings.Trim(c, "-0123456789.e+") == "" {
					continue // a number
				}
				if c != "" && strings.ContainsAny(c[:1], "=+-@") {
					t.Errorf("%s csv with %q: the cell %q is a formula", what, comma, cell)
				}
			}
		}
	}
}

// checkJSON: the names come back as they were sent, but for broken UTF-8.
func checkJSON(t *testing.T, what string, names []string, text string) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s json: %v", what, err)
	}
	for _, name := range names {
		if want := string([]rune(name)); what != "stats" && !holds(v, want) {
			t.Errorf("%s json: no value %.60q", what, want)
		}
	}
}

// holds reports whether a value of v begins with the text (a thread has its id behind it).
func holds(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.HasPrefix(v, text)
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return holds(x, text) })
	case map[string]any:
		for _, x := range v {
			if holds(x, text) {
				return true
			}
		}
	}
	return false
}

// checkReport: the page and the figures hold no element that a name brought.
func checkReport(t *testing.T, dir string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	code, printedNames, errs := shadow(t, nil, "report", dir, "-o", out, "--figures", "cdf,tasks,threads", "--figure-format", "svg")
	if code != 0 {
		t.Fatalf("report: %d: %s", code, errs)
	}
	printed(t, "report", printedNames+errs)
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil || len(entries) != 1 {
		t.Errorf("files beside the folder of the report: %v, %v", entries, err)
	}
	for file := range strings.Lines(printedNames) {
		file = strings.TrimSpace(file)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		printed(t, file, string(b))
		if filepath.Ext(file) == ".svg" {
			checkXML(t, file, b)
			continue
		}
		doc, err := html.Parse(strings.NewReader(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		scripts, blocks := 0, 0
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			switch n.Data {
			case "script":
				if slices.Contains(n.Attr, html.Attribute{Key: "type", Val: "application/json"}) {
					blocks++
				} else {
					scripts++
				}
			case "img", "iframe", "object", "embed", "form", "base":
				t.Errorf("%s: a name became the element %s", file, n.Data)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(strings.ToLower(a.Key), "on") || strings.Contains(strings.ToLower(a.Val), "javascript:") {
					t.Errorf("%s: attribute %s=%q", file, a.Key, a.Val)
				}
			}
		}
		if scripts != 1 || blocks != 1 {
			t.Errorf("%s: %d scripts and %d blocks of data", file, scripts, blocks)
		}
	}
}

func checkXML(t *testing.T, file string, b []byte) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(b)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "script" {
				t.Errorf("%s: a name became a script", file)
			}
			for _, a := range token.Attr {
				if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") {
					t.Errorf("%s: attribute %s", file, a.Name.Local)
				}
			}
		case xml.Directive:
			if !strings.HasPrefix(string(token), "DOCTYPE svg") {
				t.Errorf("%s: directive %q", file, token)
			}
		}
	}
}

// A manifest or a part that names a session with a path must not be written beside the folder asked for.
func TestHostileSessionName(t *testing.T) {
	for _, name := range []string{"../../x", "/tmp/x", "..", "a/b", "a\nb", strings.Repeat("a", 300), ""} {
		dir := makeSession(t, t.TempDir())
		path := filepath.Join(dir, store.ManifestName)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		b = []byte(strings.Replace(string(b), `"session": "s1"`, `"session": `+string(quoted), 1))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		root := t.TempDir()
		code, out, errs := shadow(t, nil, "report", dir, dir, "-o", filepath.Join(root, "a", "b"))
		if code != 1 || out != "" {
			t.Errorf("%q: exit code %d, %s%s", name, code, out, errs)
		}
		printed(t, name, errs)
		if entries, _ := os.ReadDir(root); len(entries) > 1 {
			t.Errorf("%q: %v", name, entries)
		}
	}
}
