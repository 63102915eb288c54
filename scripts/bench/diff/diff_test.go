package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackagent/scripts/bench/part"
)

// As benchstat prints it.
const comparison = `goos: linux
pkg: stackagent/a
,base,,new,,,
,sec/op,CI,sec/op,CI,vs base,P
A-2,1.025e-07,2%,1.325e-07,2%,+29.27%,p=0.002 n=6
B-2,1.025e-07,2%,1.325e-07,2%,~,p=0.200 n=6
Old-2,5e-09,∞
New-2,,,5e-09,∞
geomean,2.26e-08,,2.57e-08,,+99.00%,

,base,,new,,,
,Mx/s,CI,Mx/s,CI,vs base,P
A-2,10.25,2%,5.25,5%,-48.78%,p=0.002 n=6
B-2,10.25,2%,20.25,5%,+97.00%,p=0.002 n=6
geomean,10.25,,5.25,,-48.78%,

pkg: java/jdk25
,base,,new,,,
,ns/op,CI,ns/op,CI,vs base,P
Task/load=both-2,100,2%,109,5%,+9.00%,p=0.002 n=6
`

func TestReadChanges(t *testing.T) {
	got, err := readChanges(comparison)
	want := []change{
		{"stackagent/a A-2", "sec/op", 0.2927}, {"stackagent/a A-2", "Mx/s", -0.4878}, {"stackagent/a B-2", "Mx/s", 0.97},
		{"java/jdk25 Task/load=both-2", "ns/op", 0.09},
	}
	same := func(a, b change) bool {
		d := a.relative - b.relative
		return a.name == b.name && a.unit == b.unit && d < 1e-9 && d > -1e-9
	}
	if err != nil || !slices.EqualFunc(got, want, same) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "pkg: a\n", strings.Replace(comparison, "+29.27%", "much%", 1), "\"open"} {
		if got, err := readChanges(bad); err == nil {
			t.Errorf("%q: %+v, want an error", bad, got)
		}
	}
}

func TestVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		changes []change
		worse   bool
		says    string
	}{
		"slower":           {[]change{{"A", "sec/op", 0.3}}, true, "WORSE  A: +30.0 % sec/op\n"},
		"less a second":    {[]change{{"A", "Mx/s", -0.3}}, true, "WORSE  A: -30.0 % Mx/s\n"},
		"faster":           {[]change{{"A", "sec/op", -0.3}}, false, "better A: -30.0 % sec/op\n"},
		"more a second":    {[]change{{"A", "Mx/s", 0.3}}, false, "better A: +30.0 % Mx/s\n"},
		"a little slower":  {[]change{{"A", "sec/op", 0.1}}, false, "Nothing changed significantly by more than 10 %.\n"},
		"nothing":          {nil, false, "Nothing changed significantly by more than 10 %.\n"},
		"one up, one down": {[]change{{"A", "B/op", -0.2}, {"B", "B/op", 0.2}}, true, "better A: -20.0 % B/op\nWORSE  B: +20.0 % B/op\n"},
	} {
		var b strings.Builder
		if err := verdict(&b, c.changes); errors.Is(err, errWorse) != c.worse || b.String() != c.says {
			t.Errorf("%s: %v, %q", name, err, b.String())
		}
	}
}

func TestLine(t *testing.T) {
	got := line("both", "all", part.TaskRun{Median: 12.3456, CPU: 20, Shadow: 300.5})
	want := regexp.MustCompile(`^BenchmarkTask/load=both/detail=all-\d+ 1 12.346 ns/op 20 jvm-cpu-ns/op 300.500 shadow-cpu-ns/op\n$`)
	if !want.MatchString(got) {
		t.Errorf("%q", got)
	}
}

func TestWithBenchmarks(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"a/a_test.go":       "package a\nfunc BenchmarkFast(b *testing.B) {}\nfunc BenchmarkSlow(b *testing.B) {}\n",
		"b/c/c_test.go":     "package c\nfunc BenchmarkSlow(b *testing.B) {}\n",
		"d/d.go":            "package d\nfunc BenchmarkFast(b *testing.B) {}\n",
		"build/x/x_test.go": "package x\nfunc BenchmarkFast(b *testing.B) {}\n",
		"e/e_test.go":       "package e\nfunc TestX(t *testing.T) {}\n",
	} {
		file := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string][]string{".": {"a", "b/c"}, "Fast": {"a"}, "None": nil} {
		got, err := withBenchmarks(root, regexp.MustCompile(pattern))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", pattern, got, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	f, err := parse([]string{"-rounds", "6", "-loads", "", "main"})
	if err != nil || f.base != "main" || f.rounds != 6 || f.loads != nil || f.bench == nil {
		t.Errorf("%+v, %v", f, err)
	}
	for _, bad := range [][]string{nil, {"a", "b"}, {"-bench", "(", "a"}} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
