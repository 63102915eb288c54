package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// contextsOf reads the calling contexts of a session, by class and kind.
func contextsOf(t *testing.T, dir string) (*session.Session, map[string][]session.Context) {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Contexts()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string][]session.Context{}
	for _, c := range all {
		if k := s.ClassByID(c.Class); k != nil {
			by[k.Name+" "+c.Kind] = append(by[k.Name+" "+c.Kind], c)
		}
	}
	if c := s.Manifest.Contexts; c == nil || c.Lost != 0 || c.Unseen != 0 || c.Taken == 0 {
		t.Errorf("account of the contexts: %+v", c)
	}
	return s, by
}

// ofMain are the frames in the program's own classes, innermost first.
func ofMain(c *session.Context) []string {
	var out []string
	for _, f := range c.Frames {
		if f != nil && strings.HasPrefix(f.Class, "Main") {
			out = append(out, f.Label())
		}
	}
	return out
}

// linesOf finds the lines of a program by their text.
func linesOf(t *testing.T, program string) func(label, text string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(testjvm.Root(t), program, "Main.java"))
	if err != nil {
		t.Fatal(err)
	}
	return func(label, text string) string {
		for i, line := range strings.Split(string(source), "\n") {
			if strings.Contains(line, text) {
				return fmt.Sprintf("%s:%d", label, i+1)
			}
		}
		t.Fatalf("no %q in the program", text)
		return ""
	}
}

// TestContexts: the stacks of a program with known call paths.
func TestContexts(t *testing.T) {
	testjvm.Shared(t)
	at := linesOf(t, "examples/contexts")
	submit := at("Main.submit", "static void submit(")
	recursion := []string{submit, at("Main.recurse", "submit(new Recursive())")}
	for range 5 {
		recursion = append(recursion, at("Main.recurse", "else recurse(n - 1)"))
	}
	dive := []string{submit, at("Main.dive", "submit(new Deep())")}
	for len(dive) < 63 { // and the executor's own method on top
		dive = append(dive, at("Main.dive", "else dive(n - 1)"))
	}
	want := map[string][]string{
		"Main$ByA":       {submit, at("Main.a", "static void a()"), at("Main.main", "i < 3; i++) a()")},
		"Main$ByB":       {submit, at("Main.b", "static void b()"), at("Main.main", "i < 2; i++) b()")},
		"Main$Recursive": append(recursion, at("Main.main", "recurse(5)")),
		"Main$Deep":      dive,
		"Main$ByLambda":  {submit, at("Main.lambda$main$0", "Runnable r = ()"), "Main$$Lambda.run", at("Main.main", "r.run();")},
		"Main$ByVirtual": {submit, at("Main.inVirtual", "static void inVirtual()"), "Main$$Lambda.run"},
	}
	counts := map[string]int64{"Main$ByA": 3, "Main$ByB": 2}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			s, by := contextsOf(t, testjvm.Example(t, "contexts").Command(t, jdk).Session(t).Dir)
			for class, frames := range want {
				if class == "Main$ByVirtual" && jdk.Version < 21 {
					continue
				}
				for _, kind := range []string{store.ContextSubmission, store.ContextCreation, store.ContextExecution} {
					got := by[class+" "+kind]
					if n := max(1, counts[class]); len(got) != 1 || got[0].Count != n || got[0].Sampled != n {
						t.Errorf("%s of %s: %+v, want %d in one context", kind, class, got, n)
						continue
					}
					if cut := class == "Main$Deep" && kind != store.ContextExecution; got[0].Cut != cut || cut && len(got[0].Frames) != 64 {
						t.Errorf("%s of %s: %d frames, cut %v", kind, class, len(got[0].Frames), got[0].Cut)
					}
				}
				if got := by[class+" "+store.ContextSubmission]; len(got) == 1 && !slices.Equal(ofMain(&got[0]), frames) {
					t.Errorf("%s is submitted on\n%q, want\n%q", class, ofMain(&got[0]), frames)
				}
			}
			inside := []string{at("Main$Inside.run", "public void run() { burn(); }"), at("Main$Nesting.run", "new Inside().run()")}
			if got := by["Main$Inside "+store.ContextExecution]; len(got) != 1 || !slices.Equal(ofMain(&got[0]), inside) {
				t.Errorf("Inside is executed on %+v, want %q", got, inside)
			}
			ownWork(t, s, by)
		})
	}
}

// ownWork compares the work by context with that of the single executions.
func ownWork(t *testing.T, s *session.Session, by map[string][]session.Context) {
	t.Helper()
	for _, class := range []string{"Main$Nesting", "Main$Inside", "Main$ByA"} {
		var wall, cpu units.Ns
		err := s.Executions(func(c *session.Chunk) error {
			for i, id := range c.Class {
				if k := s.ClassByID(id); k != nil && k.Name == class {
					wall, cpu = wall+c.SelfWallNs[i], cpu+c.SelfCPUNs[i]
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got := by[class+" "+store.ContextExecution]
		if len(got) != 1 {
			t.Errorf("%s: %d contexts", class, len(got))
			continue
		}
		// Ticks become nanoseconds by the clock's rate at another moment: parts in a million.
		if d := got[0].SelfWall - wall; max(d, -d) > wall/10_000+10 || got[0].SelfCPU != cpu || wall == 0 {
			t.Errorf("%s: self work %v, %v by contexts, %v, %v by executions", class, got[0].SelfWall, got[0].SelfCPU, wall, cpu)
		}
	}
}

// TestContextsSampled: of 1,000 in a row, every tenth of a thread and kind, by
// whatever way the events themselves are recorded.
func TestContextsSampled(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			cmd := testjvm.Example(t, "contexts").Command(t, jdk)
			cmd.Agent, cmd.Args = []string{"--contexts", "10", "--detail", "summary"}, []string{"1000"}
			s, by := contextsOf(t, cmd.Session(t).Dir)
			if s.Every() != 10 {
				t.Errorf("one in %d", s.Every())
			}
			for _, kind := range []string{store.ContextCreation, store.ContextSubmission, store.ContextExecution} {
				got := by["Main$Many "+kind]
				if len(got) != 1 || got[0].Sampled != 100 || got[0].Count != 1000 {
					t.Errorf("%s: %+v, want 100 of 1,000 in one context", kind, got)
				}
			}
		})
	}
}

// -Xcheck:jni has nothing to say about the stacks that are taken.
func TestContextsChecked(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) { checkExample(t, testjvm.Example(t, "contexts"), jdk, false, "-Xcheck:jni") })
	}
}

// TestContextsFull: more different stacks than there is room for; those that
// find none are counted, and the session says so.
func TestContextsFull(t *testing.T) {
	testjvm.Shared(t)
	const room, leaves = 65_536, 4 * 65_536
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			cmd := testjvm.Example(t, "contexts").Command(t, jdk)
			cmd.Agent, cmd.Args = []string{"--contexts", "all"}, []string{"0", "9"}
			p := cmd.Session(t)
			s, err := session.Open(p.Dir)
			if err != nil {
				t.Fatal(err)
			}
			all, err := s.Contexts()
			if err != nil {
				t.Fatal(err)
			}
			var sampled uint64
			for _, c := range all {
				sampled += uint64(c.Sampled)
			}
			c := s.Manifest.Contexts
			const running = 20 // at most, at the end: these have a context and no figures
			known := sampled + c.Lost + c.Unseen
			if len(all) > room || len(all) < room-running || c.Lost < leaves-room || c.Taken < leaves || known > c.Taken || known < c.Taken-running {
				t.Errorf("%d contexts of %d events: %+v", len(all), sampled, c)
			}
			want := fmt.Sprintf("%d of %d calling contexts were not recorded: there were too many different ones", c.Lost, c.Taken)
			if !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
				t.Errorf("no warning %q in %q", want, s.Warnings)
			}
		})
	}
}

// TestContextsAttach: the stacks of a program that ran before the agent attached, with
// virtual threads mounted and waiting then. The second session weaves less: the
// offsets in the code differ, the lines do not.
func TestContextsAttach(t *testing.T) {
	testjvm.Shared(t)
	const program = "e2e/testdata/attach/contexts"
	at := linesOf(t, program)
	submit := at("Main.submit", "static void submit(")
	want := map[string][]string{
		"Main$ByA": {submit, at("Main.a", "static void a()"), at("Main.main", "i < 3; i++) a()")},
		"Main$ByB": {submit, at("Main.b", "static void b()"), at("Main.main", "i < 2; i++) b()")},
		// Lambdas: one made anew each time, hidden from the stack or not as the JDK has it.
		"Main$ByVirtual":    {submit, at("Main.inVirtual", "static void inVirtual()")},
		"Main$ByOldVirtual": {submit, at("Main.inOldVirtual", "submit(new ByOldVirtual())")},
	}
	counts := map[string]int64{"Main$ByA": 3, "Main$ByB": 2, "Main$ByVirtual": 1, "Main$ByOldVirtual": 2}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			g := startAgain(t, jdk, program, "-Djdk.virtualThreadScheduler.parallelism=2") // one of them spins
			for _, flags := range [][]string{{"--contexts", "all"}, {"--contexts", "all", "--sites=false"}} {
				p := g.attached(t, func() { g.again(t) }, flags...)
				_, by := contextsOf(t, p.Dir)
				for class, frames := range want {
					var submitted, executed int64
					for _, c := range by[class+" "+store.ContextSubmission] {
						submitted += c.Count
						if got := ofMain(&c); len(got) < len(frames) || !slices.Equal(got[:len(frames)], frames) {
							t.Errorf("%v: %s is submitted on\n%q, want\n%q", flags, class, got, frames)
						}
					}
					for _, c := range by[class+" "+store.ContextExecution] {
						executed += c.Count
					}
					if n := counts[class]; submitted != n || executed != n {
						t.Errorf("%v: %s has contexts of %d submissions and %d executions, want %d", flags, class, submitted, executed, n)
					}
				}
			}
			_ = g.Process.Kill() // a thread of the program spins
		})
	}
}
