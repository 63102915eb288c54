package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"stackagent/internal/attach"
	"stackagent/internal/testjvm"
	"stackagent/shadow/session"
)

const askedProgram = "e2e/testdata/attach/asked"

// TestAttachAsked: also of an attached JVM it is known whether somebody asked for an
// exception, but for lambdas without a probe that records it. A session without
// submissions has none, though lambdas keep the probes of an earlier session.
func TestAttachAsked(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			g := startAgain(t, jdk, askedProgram)
			run := func(flags ...string) testjvm.Profile {
				return g.attached(t, func() { g.again(t) }, append(flags, "--detail", "all")...)
			}
			checkAsked(t, run())
			s, err := session.Open(run("--submissions=false").Dir)
			if err != nil {
				t.Fatal(err)
			}
			if h := s.Manifest.Submissions; h != nil {
				t.Errorf("a session without submissions has %+v", h)
			}
			checkAsked(t, run())
			g.close(t)
		})
	}
}

func checkAsked(t *testing.T, p testjvm.Profile) {
	t.Helper()
	want := map[string]string{"Main$Unasked": "nobody asked for it", "Main$Before": "whether anybody asked the future for it is not known"}
	for _, f := range p.Advice(t) {
		if f.Rule != "swallowed-exceptions" {
			continue
		}
		class, _, _ := strings.Cut(f.Class, "$$Lambda") // followed by a number on some JDKs
		if says := want[class]; says == "" || !strings.Contains(f.Text, "; "+says+".") {
			t.Errorf("of %s: %q", f.Class, f.Text)
		}
		delete(want, class)
	}
	if len(want) != 0 {
		t.Errorf("nothing is said of %v", want)
	}
}

// TestDetachFromStart: also an agent that started with the JVM leaves every method
// as it was.
func TestDetachFromStart(t *testing.T) {
	testjvm.Shared(t)
	library := compileAgent(t, testjvm.JDKs(t)[0], filepath.Join("testdata", "attach", "lengths.c"))
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			plain := startAgain(t, jdk, askedProgram)
			want := codeLengths(t, library, plain.pid)
			plain.close(t)

			g := startAgain(t, jdk, askedProgram, "-agentpath:"+testjvm.Library(t)+"=overflow=drop")
			during := codeLengths(t, library, g.pid)
			for _, method := range []string{"LMain$Asked;run()", "Ljava/util/concurrent/CompletableFuture;reportJoin("} {
				if n := lengthOf(during, method); n == "" || n == lengthOf(want, method) {
					t.Errorf("%s is %q bytes long with the agent, as without", method, n)
				}
			}
			p, err := attach.Inspect(g.pid, filepath.Base(testjvm.Library(t)))
			if err == nil {
				err = p.Stop(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := compareLengths(t, codeLengths(t, library, g.pid), want); n < 5000 {
				t.Errorf("only %d methods compared", n)
			}
			g.close(t)
		})
	}
}

// lengthOf is the length of the only method that begins so; "": there is none.
func lengthOf(lengths map[string]string, method string) string {
	for m, n := range lengths {
		if strings.HasPrefix(m, method) {
			return n
		}
	}
	return ""
}
