package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// worksIn are methods of examples/busy that one thread alone runs, and for which it uses nearly all of its CPU time.
var worksIn = map[string]string{"works-computes": "computes", "works-adds": "adds", "works-looks-up": "looksUp"}

// TestPollingThreads: of threads that compute, those that poll without a pause are seen to do so in most samples, and no other is. The names of
// the threads say which do. Of others the samples say where they compute.
func TestPollingThreads(t *testing.T) {
	testjvm.Alone(t, "samples are of threads that have a processor")
	for _, jdk := range testjvm.JDKs(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			testjvm.OneGood(t, func(a *testjvm.Attempt) {
				c := testjvm.Command{JDK: jdk, Main: "Main", Classpath: testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "examples", "busy"))}
				p := c.Session(t)
				s, err := session.Open(p.Dir)
				if err != nil {
					t.Fatal(err)
				}
				list, err := s.Samples()
				if err != nil {
					t.Fatal(err)
				}
				polls, computes := map[string]units.Ns{}, map[string]units.Ns{} // by thread; by the program's method
				for i, x := range list {
					if near := list[i].Near(); x.Kind == store.ContextComputing && x.Thread == 0 && near != nil {
						computes[near.Method] += x.Used
					}
					if thread := s.ThreadByID(x.Thread); x.Kind == store.ContextPolling && thread != nil {
						polls[thread.Name] += x.Used
					}
				}
				named := 0
				for i := range s.Threads {
					name, cpu := s.Threads[i].Name, s.Threads[i].CPU
					switch {
					case strings.HasPrefix(name, "polls-"):
						named++
						if 3*polls[name] < cpu {
							a.Errorf("%s polls for %s of %s", name, units.FormatNs(polls[name]), units.FormatNs(cpu))
						}
					case polls[name] > 0:
						a.Errorf("%s is said to poll for %s", name, units.FormatNs(polls[name]))
					case worksIn[name] != "" && (3*computes[worksIn[name]] < cpu || computes[worksIn[name]] > cpu):
						a.Errorf("%s computes for %s, samples in %s stand for %s", name, units.FormatNs(cpu), worksIn[name], units.FormatNs(computes[worksIn[name]]))
					}
				}
				if named != 9 {
					t.Errorf("%d threads that poll, want 9", named)
				}
			})
		})
	}
}

// TestInterpretedMethod: a method with more bytecode than HotSpot compiles is named, but not if an option has the JVM compile it.
func TestInterpretedMethod(t *testing.T) {
	testjvm.Shared(t)
	source := "public class Main {\n    static double rate(double x) {\n" + strings.Repeat("        x = Math.sqrt(x * 1.0001 + 1);\n", 1200) +
		"        return x;\n    }\n" + `    public static void main(String[] args) throws Exception {
        var pool = java.util.concurrent.Executors.newFixedThreadPool(2);
        for (int i = 0; i < 2; i++) pool.execute(new Rate());
        pool.shutdown();
    }
    static class Rate implements Runnable {
        public void run() {
            double x = 1;
            for (long until = System.nanoTime() + 1_000_000_000L; System.nanoTime() < until; ) x = rate(x);
            if (x == 0) System.out.println();
        }
    }
}
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Main.java"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		classes := testjvm.Compile(t, jdk, dir)
		for vm, want := range map[string]bool{"-XX:+DontCompileHugeMethods": true, "-XX:-DontCompileHugeMethods": false} {
			t.Run(jdk.String()+"/"+vm, func(t *testing.T) {
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					p := testjvm.Command{JDK: jdk, VM: []string{vm}, Main: "Main", Classpath: classes}.Session(t)
					s, err := session.Open(p.Dir)
					if err != nil {
						t.Fatal(err)
					}
					list, err := s.Samples()
					if err != nil {
						t.Fatal(err)
					}
					interpreted := int64(0)
					for i, x := range list {
						if x.Kind != store.ContextInterpreted {
							continue
						}
						if near := list[i].Near(); near == nil || near.Method != "rate" {
							t.Errorf("%+v is said to be interpreted", near)
						}
						interpreted += x.Samples
					}
					if (interpreted >= 10) != want {
						a.Errorf("%d samples are interpreted", interpreted)
					}
				})
			})
		}
	}
}
