package e2e_test

import (
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
