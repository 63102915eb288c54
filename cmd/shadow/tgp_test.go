package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTgp: a session exported, imported and exported again is the same trace,
// and both give the same post-processing.
func TestTgp(t *testing.T) {
	root := t.TempDir()
	dir := makeSession(t, root)
	first, second, imported := filepath.Join(root, "first"), filepath.Join(root, "second"), filepath.Join(root, "imported")
	for _, args := range [][]string{
		{"tasks", dir, "--format", "tgp", "-o", first, "--metric", "wall"},
		{"import", "tgp", filepath.Join(first, "tasks.csv"), filepath.Join(first, "gc.csv"), "-o", imported},
		{"tasks", imported, "--format", "tgp", "-o", second},
	} {
		if code, out, errs := shadow(t, nil, args...); code != 0 {
			t.Fatalf("%q: exit code %d\n%s%s", args, code, out, errs)
		}
	}
	// What a trace does not record has no name and no number.
	_, out, _ := shadow(t, nil, "stats", imported)
	for _, want := range []string{"self granularity", "ended by an exception: not known", "recorded by tgp\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, name := range []string{"tasks.csv", "gc.csv"} {
		if a, b := sortedLines(t, filepath.Join(first, name)), sortedLines(t, filepath.Join(second, name)); a != b {
			t.Errorf("%s was\n%s\nand is\n%s", name, a, b)
		}
	}
	for _, verb := range []string{"diagnose", "fine", "coarse"} {
		_, a, _ := shadow(t, nil, "tgp", verb, first, "--format", "json")
		code, b, errs := shadow(t, nil, "tgp", verb, imported, "--format", "json")
		if code != 0 || a != b || len(a) < 10 {
			t.Errorf("tgp %s: exit code %d %s\n%s\nof the files, of the session\n%s", verb, code, errs, a, b)
		}
	}
	if code, out, errs := shadow(t, nil, "tgp", "aggregate", first); code != 0 || strings.Count(out, "\n") != 4 || !strings.Contains(errs, "merged 5 of 8 executions") {
		t.Errorf("aggregate: exit code %d\n%s%s", code, out, errs)
	}
}

// sortedLines are the lines of a file in order: that of executions which ended
// on different threads may change.
func sortedLines(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(slices.Sorted(slices.Values(lines)), "\n")
}

func TestTgpWrong(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "tasks.csv")
	if err := os.WriteFile(bad, []byte("ID,Class\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"import"}, 2, "want one JFR recording"},
		{[]string{"import", bad}, 1, "no JFR recording"},
		{[]string{"import", "tgp"}, 2, "want files and -o"},
		{[]string{"import", "tgp", bad}, 2, "want files and -o"},
		{[]string{"import", "tgp", bad, "-o", dir + "/x", "--metric", "moon"}, 2, "unknown metric"},
		{[]string{"import", "tgp", bad, "-o", dir + "/x", "--max-rows", "0"}, 2, "above 0"},
		{[]string{"import", "tgp", bad, "-o", dir + "/x"}, 1, "tasks.csv:1:4: 2 fields in place of 22"},
		{[]string{"import", "tgp", dir + "/none.csv", "-o", dir + "/x"}, 1, "no such file"},
		{[]string{"tgp"}, 2, "missing command"},
		{[]string{"tgp", "fine"}, 2, "missing input"},
		{[]string{"tgp", "diagnose", dir}, 1, "tasks.csv:1"},
	} {
		code, _, errs := shadow(t, nil, c.args...)
		if code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%q: exit code %d, want %d with %q\n%s", c.args, code, c.code, c.says, errs)
		}
	}
}
