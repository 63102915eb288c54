package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// trouble is a program of examples/troubles: a public report of a slow program as a small one, and what must be said of it.
type trouble struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	VM     []string `json:"vm"`
	MinJDK int      `json:"min_jdk"`
	MaxJDK int      `json:"max_jdk"` // the last JDK that has the trouble; 0: all
	// Quick: part of every test; the others want STACKAGENT_E2E=full.
	Quick bool `json:"quick"`
	// Needs is a regular expression of the program's own truth, as it is, without which this machine does not show the trouble: then there is
	// nothing to find, and the test says so. "": each machine does.
	Needs   string  `json:"needs"`
	Faulty  verdict `json:"faulty"`
	Fixed   verdict `json:"fixed"`
	Healthy verdict `json:"healthy"`
}

// verdict is what the first screen of one mode must say, and must not: regular expressions, all of them. They come from the
// program's text and its report, never from a run of the profiler.
type verdict struct {
	Must    []string `json:"must"`
	MustNot []string `json:"must_not"`
	// Lacks must be said, too, but is known not to be, for the reason that Gap gives. Without Lacks a gap is that the rest is not right. The
	// test fails as soon as the gap is mended.
	Lacks []string `json:"lacks"`
	Gap   string   `json:"gap"`
}

// mended says what of a gap is no longer one; "": nothing.
func (v verdict) mended(screen string) string {
	switch {
	case v.Gap == "":
		return ""
	case len(v.Lacks) == 0 && v.wrong(screen) == nil, len(v.Lacks) > 0 && verdict{Must: v.Lacks}.wrong(screen) == nil:
		return v.Gap
	}
	return ""
}

// wrong is what of the verdict does not hold of what `shadow run` says at its end.
func (v verdict) wrong(screen string) (all []string) {
	for _, must := range v.Must {
		if !regexp.MustCompile(must).MatchString(screen) {
			all = append(all, "nothing matches "+must)
		}
	}
	for _, not := range v.MustNot {
		if said := regexp.MustCompile(not).FindString(screen); said != "" {
			all = append(all, "it says "+said)
		}
	}
	return all
}

// mostQuickTroubles is how many programs every test may run.
const mostQuickTroubles = 3

func troubles(t *testing.T) (all []trouble) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testjvm.Root(t), "examples", "troubles", "table.json"))
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields() // a misspelt field would expect nothing
	if err := dec.Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTroublesTable: each program has a row, and no mode may be left without something that must or must not be said.
func TestTroublesTable(t *testing.T) {
	testjvm.Shared(t)
	quick, named := 0, []string{}
	for _, x := range troubles(t) {
		if x.Quick {
			quick++
		}
		named = append(named, x.Name)
		if len(x.Faulty.Must) == 0 || len(x.Fixed.MustNot) == 0 || len(x.Healthy.MustNot) == 0 || x.Kind == "" {
			t.Errorf("%s: the table expects nothing of one of its modes", x.Name)
		}
		for _, v := range []verdict{x.Faulty, x.Fixed, x.Healthy} {
			v.wrong("") // compiles its expressions
			v.mended("")
			if len(v.Lacks) > 0 && v.Gap == "" {
				t.Errorf("%s: the table does not say why something is lacking", x.Name)
			}
			if v.Gap != "" && !strings.HasPrefix(v.Gap, "known gap: ") {
				t.Errorf("%s: %q does not begin with \"known gap: \"", x.Name, v.Gap)
			}
		}
	}
	if quick != mostQuickTroubles {
		t.Errorf("%d quick programs, want %d", quick, mostQuickTroubles)
	}
	folders, err := filepath.Glob(filepath.Join(testjvm.Root(t), "examples", "troubles", "*", "Main.java"))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range folders {
		folders[i] = filepath.Base(filepath.Dir(f))
	}
	slices.Sort(named)
	if !slices.Equal(folders, named) {
		t.Errorf("programs %v, in the table %v", folders, named)
	}
}

// TestTroubles: the first screen, which is what `shadow run` says at its end, names each trouble, and is silent about it once it is mended and where it only seems to be there.
func TestTroubles(t *testing.T) {
	testjvm.Alone(t, "what is found depends on the processors it gets")
	for _, x := range troubles(t) {
		if !x.Quick && !full() {
			continue
		}
		for _, jdk := range testjvm.JDKs(t) {
			if jdk.Version < x.MinJDK || x.MaxJDK != 0 && jdk.Version > x.MaxJDK {
				continue
			}
			for _, m := range []struct {
				name string
				args []string
				want verdict
			}{{"faulty", nil, x.Faulty}, {"fixed", []string{"fixed"}, x.Fixed}, {"healthy", []string{"healthy"}, x.Healthy}} {
				t.Run(jdk.String()+"/"+x.Name+"/"+m.name, func(t *testing.T) { wantVerdict(t, jdk, x, m.args, m.want) })
			}
			if !full() {
				break
			}
		}
	}
}

// wantVerdict profiles one mode. What is found differs where others want the processors: one good attempt is enough. A gap is
// one in each attempt.
func wantVerdict(t *testing.T, jdk testjvm.JDK, x trouble, args []string, want verdict) {
	t.Helper()
	c := testjvm.Command{
		JDK: jdk, VM: x.VM, Main: "Main", Args: args,
		Classpath: testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "examples", "troubles", x.Name)),
		Agent:     []string{"--quiet=false"}, // what it says at the end is what is tested
	}
	testjvm.OneGood(t, func(a *testjvm.Attempt) {
		p := c.Session(t)
		if !strings.Contains(p.Stdout, "truth ") || p.Exit != 0 {
			t.Fatalf("exit %d, stdout %q, want a line of truth\n%s", p.Exit, p.Stdout, p.Stderr)
		}
		if args == nil && !regexp.MustCompile(x.Needs).MatchString(p.Stdout) {
			t.Skipf("this machine does not show the trouble: %s", p.Stdout)
		}
		wrong := want.wrong(p.Stderr)
		switch mended := want.mended(p.Stderr); {
		case mended != "":
			a.Errorf("%s is mended: take it out of the table\n%s", mended, p.Stderr)
		case wrong != nil && (want.Gap == "" || len(want.Lacks) > 0):
			a.Errorf("%s\n%s%s", strings.Join(wrong, "; "), p.Stderr, p.Stdout)
		}
	})
}
