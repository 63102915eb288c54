package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/console"
)

// TestHeapOfTheCommand: a heap that the command or the environment sets, and that would win over the experiment's, is
// refused, wherever it stands; an argument of the program is none.
func TestHeapOfTheCommand(t *testing.T) {
	for _, c := range []struct {
		environ []string
		args    []string
		want    string // "": no word about the heap
	}{
		{nil, []string{"java", "-cp", "c", "-Xmx64m", "Main"}, "with -Xmx64m"},
		{nil, []string{"java", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-XX:MaxHeapSize=64m", "-jar", "a.jar"}, "with -XX:MaxHeapSize=64m"},
		{nil, []string{"java", "-cp", "c", "-Xms48m", "Main"}, "with -Xms48m"},
		{[]string{"_JAVA_OPTIONS=-Dx=1 -Xmx1g"}, []string{"./run.sh"}, "_JAVA_OPTIONS sets the heap, with -Xmx1g"},
		{nil, []string{"java", "-cp", "c", "-Xmx{heap}", "Main"}, ""},
		{nil, []string{"java", "-cp", "c", "Main", "-Xmx64m"}, ""},
		{nil, []string{"java", "-jar", "a.jar", "-Xmx64m"}, ""},
	} {
		for _, verb := range [][]string{{"heap"}, {"lbo"}, {"scale", "--heap", "64m"}} {
			args := append(append(verb, "--timeout", "-1s", "--"), c.args...) // is refused later on
			code, out, errs := shadow(t, c.environ, args...)
			if code != console.ExitUsage || out != "" || c.want != "" && !strings.Contains(errs, c.want) || c.want == "" && strings.Contains(errs, "heap, ") {
				t.Errorf("%v %v: exit %d, want %q: %s%s", c.environ, args, code, c.want, out, errs)
			}
		}
	}
}

// TestTwice: what is named twice would be run twice, in the same folder.
func TestTwice(t *testing.T) {
	jdk := t.TempDir()
	if err := os.MkdirAll(filepath.Join(jdk, "bin", "java"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"heap", "--collector", "G1,g1GC"},
		{"lbo", "--collectors", "Serial,Serial"},
		{"lbo", "--heaps", "2x,2x"},
		{"scale", "--heap", "64m,64m"},
		{"lbo", "--jdk", jdk + "," + jdk + "/"},
	} {
		if code, _, errs := shadow(t, nil, append(args, "--", "java", "Main")...); code != console.ExitUsage || !strings.Contains(errs, "is there twice") {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}

// TestNoSmallestHeap: a search that finds nothing is a failure, and a smaller --most needs no --from.
func TestNoSmallestHeap(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	java := fakeJava(t, "java")
	code, out, errs := shadow(t, []string{fakeVariable + "=exit 1"}, "heap", "--others", "0", "--most", "16m", "-o", dir, "--format", "json", "--", java, "Main")
	if code != 1 || !strings.Contains(out, `"heap_bytes": null`) || !strings.Contains(errs, "no smallest heap was found") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// TestFolderOfOthers: a folder with something else in it is left as it is.
func TestFolderOfOthers(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	java := fakeJava(t, "java")
	for _, verb := range []string{"heap", "lbo"} {
		args := []string{verb, "--others", "0", "-o", dir, "--", java, "Main"}
		if verb == "lbo" {
			args = append([]string{verb, "--agent", agentLibrary(t)}, args[1:]...)
		}
		code, _, errs := shadow(t, []string{fakeVariable + "=exit 0"}, args...)
		files, err := os.ReadDir(dir)
		if code != 1 || !strings.Contains(errs, "is not empty") || err != nil || len(files) != 1 {
			t.Errorf("%s: exit %d, %v: %s", verb, code, files, errs)
		}
	}
}

// TestAnotherJava: runs with another JDK, or other options from the environment, are not mixed with those before.
func TestAnotherJava(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	java := fakeJava(t, "java")
	search := func(environ ...string) (int, string) {
		code, _, errs := shadow(t, append(environ, fakeVariable+"=exit 1"), "heap", "--others", "0", "--most", "16m", "-o", dir, "--", java, "Main")
		return code, errs
	}
	if _, errs := search(); strings.Contains(errs, "another") {
		t.Error(errs)
	}
	if _, errs := search(); strings.Contains(errs, "another") {
		t.Error(errs)
	}
	if code, errs := search("JAVA_TOOL_OPTIONS=-Dx=1"); code != 1 || !strings.Contains(errs, "holds another experiment: its runs were made with Java") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestRepeatGoesOn: the exit code is that of the first run that failed, also where an earlier command made it.
func TestRepeatGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"run", "--agent", agentLibrary(t), "--repeat", "2", "--baseline", "-o", dir, "--", fakeJava(t, "java")}
	for range 2 { // without the agent, this JVM ends with 99 anyway
		code, _, errs := shadow(t, []string{fakeVariable + "=exit 99"}, args...)
		if code != 99 || !strings.Contains(errs, "not available: what profiling changed") {
			t.Errorf("exit %d: %s", code, errs)
		}
	}
}
