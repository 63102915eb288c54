package table

import (
	"bytes"
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
