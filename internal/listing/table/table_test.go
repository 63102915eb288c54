package table

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
)

func render(t *testing.T, tab *Table, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := tab.Render(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sample() *Table {
	tab := New(Column{Title: "class", Flexible: true}, Column{Title: "count", Right: true}, Column{Title: "note"})
	tab.Row("com.acme.some.where.deep.down.VeryLongName$Inner", "7", "a")
	tab.Row("B", "12,345")
	return tab
}

func TestRender(t *testing.T) {
	want := "class                                              count  note\n" +
		"com.acme.some.where.deep.down.VeryLongName$Inner       7  a\n" +
		"B                                                 12,345\n"
	if got := render(t, sample(), Options{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRenderFitsTheTerminal(t *testing.T) {
	for _, width := range []int{40, 50, 60} {
		for line := range strings.Lines(render(t, sample(), Options{Width: width})) {
			if n := text.StringWidth(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("width %d: line of %d cells: %q", width, n, line)
			}
		}
	}
	narrow := render(t, sample(), Options{Width: 40})
	if !strings.Contains(narrow, "…") || !strings.Contains(narrow, "Name$Inner") {
		t.Errorf("a cut name keeps its end:\n%s", narrow)
	}
	// Numbers are never cut, however narrow the terminal.
	if tiny := render(t, sample(), Options{Width: 5}); !strings.Contains(tiny, "12,345") {
		t.Errorf("number cut:\n%s", tiny)
	}
}

// notes keeps what Render notes.
type notes []string

func (n *notes) Note(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

// TestNarrow: a table of many columns fits a terminal of 80 cells: names are cut first, then the last columns of
// numbers are left out, and a note says which. Names, the first column and one number stay.
func TestNarrow(t *testing.T) {
	tab := New(Column{Title: "class", Flexible: true}, Column{Title: "created", Right: true}, Column{Title: "executions", Right: true},
		Column{Title: "threads", Right: true}, Column{Title: "CPU time", Right: true}, Column{Title: "mean", Right: true}, Column{Title: "p99", Right: true},
		Column{Title: "site", Flexible: true})
	tab.Row("com.acme.some.where.VeryLongName$Inner", "12,345", "12,345", "17", "1.25 s", "100 µs", "1.25 ms", "com.acme.some.where.Main.run (Main.java:18)")
	for width, want := range map[int]string{200: "", 110: "", 80: "mean, p99", 70: "CPU time, mean, p99", 30: "executions, threads, CPU time, mean, p99"} {
		var said notes
		out := render(t, tab, Options{Width: width, Notes: &said})
		for line := range strings.Lines(out) {
			if n := text.StringWidth(strings.TrimRight(line, "\n")); n > max(width, 50) {
				t.Errorf("width %d: a line of %d cells: %q", width, n, line)
			}
		}
		if got := strings.Join(said, "\n"); (want == "") != (got == "") || want != "" && !strings.Contains(got, " for: "+want+"; --wide") {
			t.Errorf("width %d: left out %q, want %q\n%s", width, got, want, out)
		}
		if !strings.Contains(out, "Inner") || !strings.Contains(out, ":18)") || !strings.Contains(out, "12,345") {
			t.Errorf("width %d: a name or the first number is missing\n%s", width, out)
		}
	}
}

// TestWraps: a sentence continues on the next line, whole, and its table has the width of the terminal.
func TestWraps(t *testing.T) {
	tab := New(Column{Title: "check"}, Column{Title: "detail", Wraps: true}, Column{Title: "remedy", Wraps: true})
	tab.Row("counters", "the kernel does not let this user read them", "set paranoid to 1, or run as root")
	narrow, wide := render(t, tab, Options{Width: 50}), render(t, tab, Options{})
	if strings.Count(wide, "\n") != 2 || strings.Count(narrow, "\n") < 4 || strings.Contains(narrow, "…") {
		t.Errorf("narrow:\n%s\nwide:\n%s", narrow, wide)
	}
	for _, word := range strings.Fields(wide) {
		if !strings.Contains(narrow, word) {
			t.Errorf("%q is missing:\n%s", word, narrow)
		}
	}
	for line := range strings.Lines(narrow) {
		if n := text.StringWidth(strings.TrimRight(line, "\n")); n > 50 {
			t.Errorf("a line of %d cells: %q", n, line)
		}
	}
}

// TestLongName: one long name does not push the columns after it out of sight, also
// where there is no terminal; the last column is whole.
func TestLongName(t *testing.T) {
	long := strings.Repeat("x", 4000)
	tab := New(Column{Title: "thread", Flexible: true}, Column{Title: "class", Flexible: true})
	tab.Row(long+"#57", "A"+long)
	tab.Row("main#3", "B")
	lines := strings.Split(render(t, tab, Options{}), "\n")
	if at := strings.Index(lines[2], "B"); at > 100 {
		t.Errorf("the second column begins at %d", at)
	}
	name, class, _ := strings.Cut(lines[1], " ")
	if !strings.HasSuffix(name, "x#57") || strings.TrimSpace(class) != "A"+long {
		t.Errorf("%q", lines[1])
	}
}

func TestColor(t *testing.T) {
	got := render(t, sample(), Options{Color: true})
	if !strings.HasPrefix(got, "\x1b[1mclass") || strings.Count(got, "\x1b") != 2 {
		t.Errorf("titles in bold and nothing else: %q", got)
	}
	if strings.Contains(render(t, sample(), Options{}), "\x1b") {
		t.Error("colour without being asked")
	}
	var b bytes.Buffer
	if o := ForWriter(&b, func(string) string { return "" }); o != (Options{}) {
		t.Errorf("a buffer is no terminal: %+v", o)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain Name$1 -> a.b": "plain Name$1 -> a.b",
		"größe µs 線":          "größe µs 線",
		"\x1b[2Jgone":         "?[2Jgone",
		"a\nb\r\tc":           "a?b??c",
		"\u202eevil":          "?evil",
		"\u009b31m":           "?31m",
		"bad \xff utf8":       "bad ? utf8",
		"":                    "",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzCleanAndCut(f *testing.F) {
	f.Add("com.acme.Job", 5)
	f.Add("\x1b]0;x\x07", 3)
	f.Add("線線線線", 4)
	f.Fuzz(func(t *testing.T, s string, width int) {
		width = width % 200
		got := Cut(Clean(s), width)
		if width >= 1 && text.StringWidth(got) > width {
			t.Errorf("Cut(%q, %d) = %q is %d cells wide", s, width, got, text.StringWidth(got))
		}
		for _, r := range got {
			if unicode.IsControl(r) {
				t.Errorf("control character %U in %q", r, got)
			}
		}
	})
}
