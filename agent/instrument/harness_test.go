package instrument

import (
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// probes compiles the counting probes and returns the folder.
func probes(t testing.TB, jdk testjvm.JDK, dir string) string {
	src, err := filepath.Abs(filepath.Join("testdata", "java", dir))
	if err != nil {
		t.Fatal(err)
	}
	return testjvm.Compile(t, jdk, src, "--patch-module", "java.base="+src)
}

// runWoven runs a program under the harness and returns its output and the
// counts of the probes.
func runWoven(t testing.TB, jdk testjvm.JDK, patch, classpath, main string) (stdout, counts string) {
	t.Helper()
	res := testjvm.Command{JDK: jdk, Classpath: classpath, Main: "tool.Harness", Args: []string{main},
		VM: append([]string{"--patch-module", "java.base=" + patch, "-Xshare:off"}, verifyEverything...)}.Plain(t)
	if res.Exit != 0 {
		t.Fatalf("woven %s ended with %d\n%s\n%s", main, res.Exit, res.Stdout, res.Stderr)
	}
	// The JVM's own warnings share stderr with the counts.
	var lines []string
	for _, l := range strings.Split(strings.TrimSpace(res.Stderr), "\n") {
		if !strings.Contains(l, "warning:") {
			lines = append(lines, l+"\n")
		}
	}
	return res.Stdout, strings.Join(lines, "")
}

func plain(t testing.TB, jdk testjvm.JDK, classpath, main string) string {
	t.Helper()
	res := testjvm.Command{JDK: jdk, Classpath: classpath, Main: main}.Plain(t)
	if res.Exit != 0 {
		t.Fatalf("%s ended with %d\n%s\n%s", main, res.Exit, res.Stdout, res.Stderr)
	}
	return res.Stdout
}

// checkGolden compares with a file that was written by hand, from the source of
// the program: there is no flag that updates it.
func checkGolden(t *testing.T, file, got string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", file, diff(string(want), got))
	}
}

func diff(want, got string) string {
	var b strings.Builder
	in := func(text string) map[string]bool {
		set := map[string]bool{}
		for _, l := range strings.Split(text, "\n") {
			set[l] = true
		}
		return set
	}
	wants, gots := in(want), in(got)
	for _, l := range strings.Split(want, "\n") {
		if !gots[l] {
			b.WriteString("- " + l + "\n")
		}
	}
	for _, l := range strings.Split(got, "\n") {
		if !wants[l] {
			b.WriteString("+ " + l + "\n")
		}
	}
	return b.String()
}

// TestCounts weaves the fixtures and lets them run: the probes must be called
// as often as the program's source says, and the program must not notice.
func TestCounts(t *testing.T) {
	jdks := testjvm.JDKs(t)
	compiler := jdks[0] // its classes run on all of them
	fixtures := compile(t, compiler, "main")
	counting := probes(t, compiler, "probes")
	for _, jdk := range jdks {
		t.Run(jdk.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			patch := withForkJoin(t, jdk, counting)
			n := fixtures.weaveAll(t, jdk, dir, Options{}, func(name string) bool { return strings.HasPrefix(name, "fx/") })
			if n < 35 {
				t.Errorf("only %d classes woven", n)
			}
			stdout, counts := runWoven(t, jdk, patch, dir, "fx.Main")
			if want := plain(t, jdk, fixtures.dir, "fx.Main"); stdout != want {
				t.Errorf("the woven program's output differs:\n%s", diff(want, stdout))
			}
			checkGolden(t, "counts_main.golden", counts)
		})
	}
}

// withForkJoin adds the woven ForkJoinTask of the JDK to the probes: it is the
// topmost class of the fixture's task.
func withForkJoin(t testing.TB, jdk testjvm.JDK, probes string) string {
	t.Helper()
	return withWoven(t, jdk, probes, "java/util/concurrent/ForkJoinTask")
}

// withWoven adds a woven class of the JDK to the probes.
func withWoven(t testing.TB, jdk testjvm.JDK, probes, name string) string {
	t.Helper()
	im := image(t, jdk)
	b, err := im.Class(name)
	if err != nil {
		t.Fatal(err)
	}
	out, err := weaveClass(Input{Class: b, Supers: NewImageHierarchy(im.Class, Options{}), Platform: true}, Options{})
	if err != nil || out == nil {
		t.Fatalf("weave %s: %d bytes, %v", name, len(out), err)
	}
	dir := t.TempDir()
	writeClass(t, dir, name, out)
	return probes + string(os.PathListSeparator) + dir
}

// TestFlexibleConstructors runs constructors with code before super(...).
func TestFlexibleConstructors(t *testing.T) {
	jdks := testjvm.JDKs(t)
	jdk := jdks[len(jdks)-1]
	if jdk.Version < 25 {
		t.Skipf("needs JDK 25 for code before super(...), the newest here is %d: set STACKAGENT_MORE_JDKS", jdk.Version)
	}
	fixture := compile(t, jdk, "flexible")
	maps.Copy(fixture.classes, harnessClasses(t, jdks[0]))
	dir := t.TempDir()
	fixture.weaveAll(t, jdk, dir, Options{}, func(name string) bool { return strings.HasPrefix(name, "fx25/") })
	stdout, counts := runWoven(t, jdk, probes(t, jdks[0], "probes"), dir, "fx25.Flexible")
	if want := plain(t, jdk, fixture.dir, "fx25.Flexible"); stdout != want {
		t.Errorf("the woven program's output differs:\n%s", diff(want, stdout))
	}
	checkGolden(t, "counts_flexible.golden", counts)
}

func harnessClasses(t testing.TB, jdk testjvm.JDK) map[string][]byte {
	classes := compile(t, jdk, "main").classes
	maps.DeleteFunc(classes, func(name string, _ []byte) bool { return !strings.HasPrefix(name, "tool/") })
	return classes
}

// TestOldClasses runs class files of versions without frames: compiled for Java
// 8, the frames made unknown attributes, the version lowered.
func TestOldClasses(t *testing.T) {
	jdks := testjvm.JDKs(t)
	old := compile(t, jdks[0], "old", "--release", "8")
	want := plain(t, jdks[0], old.dir, "fx.Old")
	for _, major := range []uint16{46, 48, 49, 50, 52} {
		p := program{dir: old.dir, classes: maps.Clone(harnessClasses(t, jdks[0]))}
		for name, b := range old.classes {
			b = []byte(strings.ReplaceAll(string(b), "StackMapTable", "StackMapTablX"))
			if major > 50 {
				b = old.classes[name]
			}
			b = append([]byte(nil), b...)
			binary.BigEndian.PutUint16(b[6:], major)
			p.classes[name] = b
		}
		for _, jdk := range jdks {
			dir := t.TempDir()
			if n := p.weaveAll(t, jdk, dir, Options{}, func(name string) bool { return strings.HasPrefix(name, "fx/") }); n != 2 {
				t.Errorf("version %d: %d classes woven, want 2", major, n)
			}
			stdout, counts := runWoven(t, jdk, probes(t, jdks[0], "probes"), dir, "fx.Old")
			if stdout != want {
				t.Errorf("version %d on %s: output differs:\n%s", major, jdk, diff(want, stdout))
			}
			checkGolden(t, "counts_old.golden", counts)
		}
	}
}

// TestVirtualThreads weaves java.lang.VirtualThread itself.
func TestVirtualThreads(t *testing.T) {
	jdks := testjvm.JDKs(t)
	jdk := jdks[len(jdks)-1]
	if jdk.Version < 21 {
		t.Skipf("needs JDK 21 for virtual threads, the newest here is %d: set STACKAGENT_MORE_JDKS", jdk.Version)
	}
	fixture := compile(t, jdk, "virtual")
	maps.Copy(fixture.classes, harnessClasses(t, jdks[0]))
	dir := t.TempDir()
	fixture.weaveAll(t, jdk, dir, Options{}, func(name string) bool { return strings.HasPrefix(name, "vt/") })
	patch := withWoven(t, jdk, probes(t, jdks[0], "probes"), nameVirtualThread)
	stdout, counts := runWoven(t, jdk, patch, dir, "vt.Virtual")
	if stdout != "virtual 15\n" {
		t.Errorf("the woven program prints %q", stdout)
	}
	checkGolden(t, "counts_virtual.golden", counts)
}
