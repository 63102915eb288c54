package text

import "testing"

func TestPlural(t *testing.T) {
	for _, c := range []struct {
		n            uint64
		short, exact string
	}{
		{0, "0 units", "0 units"},
		{1, "1 unit", "1 unit"},
		{2, "2 units", "2 units"},
		{12_345, "12,345 units", "12,345 units"},
		{1_250_000, "1.25 M units", "1,250,000 units"},
	} {
		if got := Plural(c.n, "unit", "units"); got != c.short {
			t.Errorf("Plural(%d): %q, want %q", c.n, got, c.short)
		}
		if got := PluralExact(c.n, "unit", "units"); got != c.exact {
			t.Errorf("PluralExact(%d): %q, want %q", c.n, got, c.exact)
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ what, got, want string }{
		{"joined", OneLine("\na\nb\x1b[2J\n"), "a; b?[2J"},
		{"first", FirstLine("load program\n0: r1 = 1\n"), "load program"},
		{"first of one", FirstLine("a\x1bb"), "a?b"},
		{"cut", Cut("größer", 3), "grö..."},
		{"short enough", Cut("grö", 3), "grö"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	cases := []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"metric", "metrics", 1}, {"detial", "detail", 1}, {"kitten", "sitting", 3}}
	for _, c := range cases {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
