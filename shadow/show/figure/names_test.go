package figure

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"stackagent/internal/units"
)

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int
		want  string
	}{
		{"com.acme.Job", 40, "com.acme.Job"},
		{"com.acme.x.VeryLong$Inner", 20, "c.a.x.VeryLong$Inner"},
		{"com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0", 60, "c.a.Main::lambda$main$0"},
		{"com.acme.Main$$Lambda -> com.acme.Job.run", 60, "c.a.Job::run"},
		{"Main$$Lambda -> Main.lambda$main$0", 60, "Main::lambda$main$0"},
		{"Main$$Lambda -> run", 60, "run"},
		{"com.acme.AVeryLongClassNameIndeed", 16, "c.a.A…NameIndeed"},
		{"NoPackageButVeryLong", 10, "NoP…ryLong"},
		{"a\x1b[31mb\n\u202ec", 40, "a?[31mb??c"},
		{"bad\xff", 40, "bad?"},
		{"日本.クラス", 40, "日本.クラス"},
		{"..", 1, ".."},
		{"com.acme.Orders.lambda$main$1 (thenApplyAsync, Orders.java:18)", 57, "c.a.Orders.lambda$main$1 (thenApplyAsync, Orders.java:18)"},
		{"com.acme.Orders.lambda$main$1 (Orders.java:18)", 44, "c.a.Orders.lambda$main$1 (Orders.java:18)"},
		{"com.acme.Orders.lambda$main$1 (Orders.java:18)", 30, "Orders.lambda$main$1:18"},
		{"com.acme.Orders$Line.lambda$of$1 (Orders.java:18)", 30, "Orders$Line.lambda$of$1:18"},
		{"com.acme.Orders.lambda$main$1 (run, Other.kt:18)", 40, "Orders.lambda$main$1 (run, Other.kt:18)"},
		{"com.acme.Job (call site unknown)", 30, "c.a.Job (call site unknown)"},
		{"pool of threads (com.acme.Pool)", 20, "pool o…om.acme.Pool)"},
		{"", 10, "(no name)"},
	} {
		if got := Shorten(c.name, c.limit); got != c.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", c.name, c.limit, got, c.want)
		}
	}
}

func TestShortenAllKeepsApart(t *testing.T) {
	for _, c := range []struct {
		limit int
		want  []string
	}{
		{16, []string{"com.a…e.deep.Job", "com.a…a.deep.Job", "org.other.Task"}},
		{12, []string{"com…deep.Job (1)", "com…deep.Job (2)", "o.o.Task"}},
		{40, []string{"com.acme.deep.Job", "com.alpha.deep.Job", "org.other.Task"}},
	} {
		if got := ShortenAll([]string{"com.acme.deep.Job", "com.alpha.deep.Job", "org.other.Task"}, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("limit %d: %q, want %q", c.limit, got, c.want)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0", 20)
	f.Add("\xff\x00..", 0)
	f.Fuzz(func(t *testing.T, name string, limit int) {
		got := Shorten(name, limit)
		if !utf8.ValidString(got) || got == "" || strings.ContainsAny(got, "\x00\x1b\n\r") {
			t.Errorf("Shorten(%q, %d) = %q", name, limit, got)
		}
		if n := utf8.RuneCountInString(got); n > max(limit, 8, len("(no name)")) {
			t.Errorf("Shorten(%q, %d) has %d characters: %q", name, limit, n, got)
		}
	})
}

func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi units.Ns
		want   string
	}{
		{500, 2_000_000, "1 µs,10 µs,100 µs,1 ms"},
		{1200, 3300, "1 µs,2 µs,5 µs"},
		{0, 0, "1 ns,2 ns,5 ns,10 ns"},
		{1, 1, "0.5 ns,1 ns,2 ns"},
		{1, 3_000_000_000_000, "1 ns,100 ns,10 µs,1 ms,100 ms,10 s,1e+03 s"},
	} {
		r := rangeOf("ns", c.lo, c.hi)
		var labels []string
		for _, tick := range r.Ticks(r.lo, r.hi) {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, ","); got != c.want {
			t.Errorf("%d to %d: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

func TestLinearTicks(t *testing.T) {
	for _, c := range []struct {
		hi   float64
		n    int
		want string
	}{
		{12, 8, "0,2,4,6,8,10,12"}, {1.06, 4, "0.0,0.5,1.0"}, {40_000, 4, "0,10 k,20 k,30 k,40 k"}, {3e6, 3, "0,1 M,2 M,3 M"},
	} {
		var labels []string
		for _, tick := range linearTicks(c.n)(0, c.hi) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, ","); got != c.want {
			t.Errorf("up to %g: %s, want %s", c.hi, got, c.want)
		}
	}
}
