package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":            {"com.acme.Jöb$1", "com.acme.Jöb$1"},
		"escape sequence":  {"a\x1b[2Jb", "a?[2Jb"},
		"8-bit CSI":        {"a\u009b2Jb", "a?2Jb"},
		"title of window":  {"\x1b]0;x\a", "?]0;x?"},
		"lines":            {"a\r\nb\u2028c\u0085d", "a??b?c?d"},
		"right to left":    {"a\u202egpj.exe", "a?gpj.exe"},
		"isolate":          {"\u2066x\u2069", "?x?"},
		"zero width":       {"pay\u200bpal\ufeff", "pay?pal?"},
		"tags":             {"a\U000e0041", "a?"},
		"private":          {"\ue000", "?"},
		"bad UTF-8":        {"a\xff\xc0b", "a??b"},
		"delete backspace": {"a\x7f\b", "a??"},
		"nul":              {"a\x00b", "a?b"},
	} {
		if got := Clean(c.in, '?'); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"com.acme.Job":           "com.acme.Job",
		"a=b":                    "a=b",
		"a - b":                  "a - b",
		"pool-1-thread-1#31":     "pool-1-thread-1#31",
		"=cmd|' /C calc'!A0":     "'=cmd|' /C calc'!A0",
		"+1+1":                   "'+1+1",
		"-2+3":                   "'-2+3",
		"@SUM(1)":                "'@SUM(1)",
		"\t=1":                   "'?=1",
		"\r=1":                   "'?=1",
		"\n=1":                   "'?=1",
		"  =1+1":                 "'  =1+1",
		"\"=1+1":                 "'\"=1+1",
		"＝1+1":                   "'＝1+1",
		"＠x":                     "'＠x",
		"x;=1+1":                 "x;'=1+1",
		"x; \t@y;-1":             "x;' ?@y;'-1",
		"|calc":                  "'|calc",
		"%0A=1":                  "'%0A=1",
		"\u200b=1":               "'?=1",
		"\u00a0=1":               "'\u00a0=1",
		"Lambda -> com.acme.x()": "Lambda -> com.acme.x()",
	} {
		if got := Cell(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	names := []string{"plain <&>", "\x1b[2J", "\u009b2J", "\u2028\u2029", "\u202e", "\x7f", "\U000e0041", "\xff", "ü\n"}
	var b bytes.Buffer
	enc := json.NewEncoder(JSON(&b))
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(names); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && Hidden(r) }); i >= 0 {
		t.Errorf("a hidden character is left: %q", b.String()[i:])
	}
	if !strings.Contains(b.String(), `"plain <&>"`) || !strings.Contains(b.String(), "ü") {
		t.Errorf("a visible character is escaped: %s", b.String())
	}
	var back []string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	for i, n := range names {
		if n == "\xff" {
			n = "\ufffd"
		}
		if back[i] != n {
			t.Errorf("%q came back as %q", n, back[i])
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "com.acme.Job$1", "=1+1", "\x1b[2J", "a;\t@b", "\u202e\u009b", "\xff\xfe", "\U000e0041"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if text := Clean(s, '?'); strings.ContainsFunc(text, Hidden) {
			t.Errorf("%q: hidden characters are left in %q", s, text)
		}
		cell := Cell(s)
		if strings.ContainsFunc(cell, Hidden) || formula.MatchString(cell) {
			t.Errorf("%q: %q is not a safe cell", s, cell)
		}
		if again := Cell(cell); again != cell {
			t.Errorf("%q: %q, done again %q", s, cell, again)
		}
		var plain, escaped bytes.Buffer
		if err := errors.Join(json.NewEncoder(&plain).Encode(s), json.NewEncoder(JSON(&escaped)).Encode(s)); err != nil {
			t.Fatal(err)
		}
		var want, got string
		if err := errors.Join(json.Unmarshal(plain.Bytes(), &want), json.Unmarshal(escaped.Bytes(), &got)); err != nil || got != want {
			t.Errorf("%q came back as %q, not %q: %v", s, got, want, err)
		}
	})
}
