package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// constructions are the costs of a session's constructions, by class.
type constructions struct {
	wall  map[string]units.Ns
	alloc map[string][]int64
}

func readConstructions(t *testing.T, dir string) constructions {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := map[uint32]string{}
	for _, c := range s.Classes {
		names[c.ID] = c.Name
	}
	out := constructions{map[string]units.Ns{}, map[string][]int64{}}
	err = s.Constructions(func(c *session.ConstructionChunk) error {
		for i, class := range c.Class {
			out.wall[names[class]] += c.WallNs[i]
			out.alloc[names[class]] = append(out.alloc[names[class]], int64(c.Extra[0][i]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What constructors allocate is known to the byte, whatever super(...), this(...)
// and failing constructors lie between; how long the slow ones take they know
// themselves.
func TestConstruction(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			cmd := testjvm.Example(t, "construction").Command(t, jdk)
			cmd.Agent = append(cmd.Agent, "--detail", "all")
			p := cmd.Session(t)
			c := readConstructions(t, p.Dir)
			const kib = 1024
			for class, want := range map[string][]int64{
				"Main$Derived": {5 * kib}, "Main$Third": {9 * kib, 16 * kib, 17 * kib}, "Main$Failing": {2 * kib},
				"Main$Base": {1 * kib}, "Main$Slow": {0}, "Main$$Lambda -> Main.lambda$main$0": {0},
			} {
				checkAllocations(t, class, c.alloc[class], want)
			}
			if n := len(c.alloc["Main$FailsEarly"]); n != 0 {
				t.Errorf("%d constructions that failed", n)
			}
			checkNested(t, c)
			var slow units.Ns
			if _, err := fmt.Sscanf(p.Stdout, "slow %d", &slow); err != nil {
				t.Fatalf("%q: %v", p.Stdout, err)
			}
			if got := c.wall["Main$Slow"]; got < slow || got > slow+slow/2+500e6 {
				t.Errorf("slow constructors took %d ns, they measured %d", got, slow)
			}
		})
	}
}

// Constructions of classes that are summarised are no losses: they are counted
// by themselves, and the session says so.
func TestConstructionsSummarised(t *testing.T) {
	testjvm.Shared(t)
	cmd := testjvm.Example(t, "construction").Command(t, testjvm.JDKs(t)[0])
	cmd.Agent = append(cmd.Agent, "--detail", "summary")
	p := cmd.Session(t)
	s, err := session.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	h := s.Manifest.Constructions
	if h == nil || h.Summarised < 2000 || h.Lost != 0 || h.Produced != h.Stored+h.Summarised || h.Unaccounted != 0 {
		t.Errorf("account of the constructions: %+v", h)
	}
	if !strings.Contains(strings.Join(s.Warnings, "\n"), "since their classes were summarised") {
		t.Errorf("nothing is said about it: %q", s.Warnings)
	}
}

// checkAllocations: the number of each size is right. In a first call the JVM itself
// may allocate, so a few constructions of a class may differ.
func checkAllocations(t *testing.T, class string, got, want []int64) {
	t.Helper()
	each := map[string]int{"Main$Base": 2200}[class]
	if each == 0 {
		each = 200
	}
	if len(got) != each*len(want) {
		t.Errorf("%s: %d constructions, want %d", class, len(got), each*len(want))
	}
	for _, size := range want {
		n := 0
		for _, v := range got {
			if v == size {
				n++
			}
		}
		if n > each || n < each-3 {
			t.Errorf("%s: %d constructions of %d bytes, want %d; all: %v", class, n, size, each, firstFew(got))
		}
	}
}

func firstFew(list []int64) []int64 {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// checkNested: what is made in a constructor or in its arguments is part of it.
func checkNested(t *testing.T, c constructions) {
	t.Helper()
	small, large := 0, 0
	for _, v := range c.alloc["Main$Nest"] {
		switch {
		case v == 1024:
			small++
		case v >= 7*1024+16 && v <= 7*1024+128: // 1 inside, 2 and 4 outside, and the inner object
			large++
		}
	}
	if small < 197 || large < 197 || small+large > 400 {
		t.Errorf("Nest: %d of 1 KiB and %d of 7 KiB with an object, want 200 each: %v", small, large, firstFew(c.alloc["Main$Nest"]))
	}
	for _, v := range c.alloc["Main$Parent"] {
		if v < 100*(1024+16) || v > 100*(1024+64)+2048 {
			t.Errorf("Parent: %d bytes with its 100 children", v)
		}
	}
	if n := len(c.alloc["Main$Body"]); n != 20 {
		t.Errorf("%d threads were constructed, want 20", n)
	}
}
