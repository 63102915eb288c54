package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/shadow/session"
)

// A program whose collections follow each other within a millisecond, for several causes.
const collecting = `import java.util.*;
public class Main {
    static Object kept;
    public static void main(String[] a) throws Exception {
        Thread t = new Thread(() -> {}); t.start(); t.join();
        for (int i = 0; i < 30; i++) System.gc();
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; a.length > 0 && i < 20000; i++) {
            all.add(new byte[20000]);
            if (all.size() > 2000) all.subList(0, 1500).clear();
            if (i % 4000 == 3999) System.gc();
        }
        kept = all;
        for (int i = 0; i < 3; i++) System.gc();
    }
}`

// TestGCCauses: the cause of every pause is what the JVM's own log says.
func TestGCCauses(t *testing.T) {
	testjvm.Shared(t)
	source := t.TempDir()
	if err := os.WriteFile(filepath.Join(source, "Main.java"), []byte(collecting), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		classes := testjvm.Compile(t, jdk, source)
		for _, gc := range []string{"Serial", "Parallel", "G1", "Z", "Shenandoah"} {
			t.Run(jdk.String()+gc, func(t *testing.T) {
				log := filepath.Join(t.TempDir(), "gc")
				c := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", VM: []string{"-XX:+Use" + gc + "GC", "-Xlog:gc*,safepoint:file=" + log + "::filecount=0"}}
				if gc == "Z" || gc == "Shenandoah" { // their logs name the causes of collections, not of pauses: one cause only
					c.VM = append(c.VM, "-Xmx1g")
				} else {
					c.VM, c.Args = append(c.VM, "-Xmx160m"), []string{"allocate"}
				}
				got, want := recordedCauses(t, c), loggedCauses(t, gc, log)
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("%d pauses, %d by the log:\n%q\n%q", len(got), len(want), got, want)
				}
			})
		}
		for _, off := range []string{"-XX:-UsePerfData", "-XX:+PerfDisableSharedMem"} {
			t.Run(jdk.String()+off, func(t *testing.T) {
				got := recordedCauses(t, testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", VM: []string{off, "-XX:+UseSerialGC"}})
				if len(got) != 33 || slices.ContainsFunc(got, func(s string) bool { return s != "" }) {
					t.Errorf("%q, want 33 that are not known", got)
				}
			})
		}
	}
}

func recordedCauses(t *testing.T, c testjvm.Command) (causes []string) {
	t.Helper()
	s, err := session.Open(c.Profile(t).Dir)
	if err != nil {
		t.Fatal(err)
	}
	asked, named := 0, 0
	for _, p := range s.Pauses {
		causes = append(causes, p.Cause)
		if p.Cause == "System.gc()" {
			asked++
		}
		if p.Asker == 0 {
			continue
		}
		named++
		at := s.SiteByID(p.Asker)
		if at == nil || p.ForBuffers || p.Cause != "System.gc()" || !slices.Contains(callsOfGC(), at.Line) || at.Method != "main" {
			t.Errorf("a pause for %q was asked for by %+v, for buffers %v; the program's calls are in lines %v", p.Cause, at, p.ForBuffers, callsOfGC())
		}
	}
	if named < asked/2 {
		t.Errorf("who asked is known of %d of %d pauses", named, asked)
	}
	return causes
}

// callsOfGC are the lines of the program that call System.gc().
func callsOfGC() (lines []int32) {
	for i, line := range strings.Split(collecting, "\n") {
		if strings.Contains(line, "System.gc()") {
			lines = append(lines, int32(i+1))
		}
	}
	return lines
}

var causeLine = regexp.MustCompile(`(?m)(Safepoint) "|GC\((\d+)\) (?:Garbage|Major|Minor) Collection \((.*)\)$|Trigger: (?:Explicit )?GC request \((.*)\)$|` +
	`\[gc,(?:start|phases) *\] GC\((\d+)\) (?:[YOyo]: )?Pause (\w+ ?\w*)(.*)`)

var lastBrackets = regexp.MustCompile(`\(([^()]*(?:\(\))?)\)$`)

// loggedCauses are the causes of pauses by the log. Serial and Parallel have one for all that they do at a safepoint: the
// one with which it began. Parallel logs Ergonomics where that was a failed allocation. The log names the causes of ZGC's
// and Shenandoah's collections, and none of G1's Remark and Cleanup.
func loggedCauses(t *testing.T, gc, file string) (causes []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ofCollection, requested, begun := map[string]string{}, "", false
	for _, m := range causeLine.FindAllStringSubmatch(string(b), -1) {
		cause := ""
		if c := lastBrackets.FindStringSubmatch(m[7]); c != nil {
			cause = c[1]
		}
		switch {
		case m[1] != "":
			begun = false
			continue
		case m[3] != "":
			ofCollection[m[2]] = m[3]
			continue
		case m[4] != "":
			requested = m[4]
			continue
		case gc == "Z":
			cause = ofCollection[m[5]]
		case gc == "Shenandoah":
			cause = requested
		case gc != "G1" && begun:
			continue
		case gc == "Parallel" && cause == "Ergonomics":
			cause = "Allocation Failure"
		}
		begun = true
		causes = append(causes, cause)
	}
	return causes
}
