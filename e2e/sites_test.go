package e2e_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"stackagent/internal/testjvm"
)

// sitesMethods are the methods of testdata/sites as handoverMethods are those of
// examples/handover.
var sitesMethods = map[string]string{
	"Argument": "Main$Derived.<init>", "Base": "Main$Derived.<init>", "Parent": "Main$Child.parent", "Thrown": "Main.refuse", "First": "Main.executeBoth",
	"Late": "Main.late", "InTask": "Main.lambda$inTask$0",
}

// TestSitesAfterThrow: the place of a call that throws is not that of what is
// made or handed over later, in the same method, its caller or a task; that of a
// call around others comes back after them; super(...) is no place, and
// new of the superclass is.
func TestSitesAfterThrow(t *testing.T) {
	made, handedAt := marks(t, "e2e/testdata/sites", sitesMethods)
	made["Main$Thrown"], made["Main$First"] = made["Main$Second"], made["Main$Second"] // two of them have another method's mark
	handedAt["Main$AfterRejected"], handedAt["Main$AfterThrown"], handedAt["Main$AfterOther"] = "", "", ""
	for _, class := range []string{"Main$AfterInTask", "Main$AfterPicky", "Main$AfterLate"} {
		made[class], handedAt[class] = "", ""
	}
	for _, jdk := range testjvm.JDKs(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			dir := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "sites"))
			cmd := testjvm.Command{JDK: jdk, Classpath: dir, Main: "Main", Agent: []string{"--detail", "all"}}
			p := cmd.Profile(t)
			if p.Exit != 0 {
				t.Fatalf("the program ended with %d\n%s", p.Exit, p.Stderr)
			}
			classes := readHanded(t, p.Dir, true)
			for class, want := range made {
				checkPlace(t, class+" made", classes[class], func(x *handedOver) map[string]bool { return x.making }, want)
			}
			for class, want := range handedAt {
				checkPlace(t, class+" handed over", classes[class], func(x *handedOver) map[string]bool { return x.sites }, want)
			}
		})
	}
}

// checkPlace compares the places of a class with the only one that it should
// have, "" for none.
func checkPlace(t *testing.T, what string, x *handedOver, of func(*handedOver) map[string]bool, want string) {
	t.Helper()
	if x == nil {
		t.Errorf("%s: not in the session", what)
		return
	}
	got := slices.Collect(maps.Keys(of(x)))
	if want == "" && len(got) == 0 || len(got) == 1 && got[0] == want {
		return
	}
	t.Errorf("%s at %q, want only %q", what, got, want)
}
