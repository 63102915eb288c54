package jvmti_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// batches are what came of classes in a JVM that treats each as its digit says (testdata/batches_main.c).
type batches struct{ wrong, calls, given, asked, stops, pauses int }

func retransformed(t *testing.T, batch int, how, classes string) (b batches) {
	t.Helper()
	cmd := exec.Command(compile(t, checked, "testdata/batches_main.c", "class_batches.c"), strconv.Itoa(batch), how)
	cmd.Stdin = strings.NewReader(classes + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := fmt.Sscan(string(out), &b.wrong, &b.calls, &b.given, &b.asked, &b.stops, &b.pauses); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	return b
}

// some are n classes of which k are of another kind, at random places.
func some(r *rand.Rand, n, k int, usual, other string) string {
	s := []byte(strings.Repeat(usual, n))
	for _, i := range r.Perm(n)[:k] {
		s[i] = other[0]
	}
	return string(s)
}

// Whichever classes the JVM refuses, it changes all others, once, and stops the program no more than twice as often as if it
// refused none. A refused class costs a call with few classes, and the JVM is asked for no class more than twice, but for one
// that is known to be refused.
func TestRefusedClasses(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	cases := []struct {
		batch   int
		classes string
	}{{200, ""}, {200, "0"}, {200, "1"}, {1, "0110"}, {200, strings.Repeat("1", 500)}, {50, strings.Repeat("0", 49) + "1" + strings.Repeat("0", 100) + "11"}}
	for range 40 {
		n := 1 + r.IntN(900)
		cases = append(cases, struct {
			batch   int
			classes string
		}{1 + r.IntN(300), some(r, n, r.IntN(1+r.IntN(n)), "0", "1")})
	}
	for i, c := range cases {
		n, refused := len(c.classes), strings.Count(c.classes, "1")
		how := []string{"-", "o"}[i%2]
		b, full := retransformed(t, c.batch, how, c.classes), (n+c.batch-1)/c.batch
		const few = 32
		tries := refused + n/min(few, c.batch) + 1 // each ends at a refused class, or after that many
		if b.wrong != 0 || b.stops > full+1 || b.calls > full+1+tries || b.asked > 2*n+tries || b.given > 2*n+c.batch+tries*(few+1) || b.pauses != b.stops {
			t.Errorf("batch %d, %d classes, %d refused: %+v; %s", c.batch, n, refused, b, c.classes)
		}
	}
}

// If the JVM refuses a class before it asks for any, it is found by halves.
func TestRefusedUnasked(t *testing.T) {
	for _, at := range []int{0, 1, 77, 198, 199} {
		classes := []byte(strings.Repeat("0", 200))
		classes[at] = '2'
		b := retransformed(t, 200, "-", string(classes))
		if most := 2 * bits.Len(200); b.wrong != 0 || b.stops > most || b.calls > most*bits.Len(200) {
			t.Errorf("class %d: %+v", at, b)
		}
	}
}

// Newer JVMs link all classes before they ask for the bytes of any. A class that cannot be linked costs calls, but no
// operation, among classes that were linked already or can be.
func TestRefusedLinking(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for i := range 40 {
		n, batch := 1+r.IntN(900), 1+r.IntN(300)
		k := r.IntN(1 + r.IntN(n))
		classes := some(r, n, k, []string{"0", "4"}[i%2], "3")
		b, full := retransformed(t, batch, "-", classes), (n+batch-1)/batch
		if b.wrong != 0 || b.stops > full || b.calls > full+k*(2+bits.Len(uint(batch))) {
			t.Errorf("batch %d, %d classes, %d refused: %+v; %s", batch, n, k, b, classes)
		}
	}
	classes := some(r, 200, 20, "0", "5")
	classes = classes[:150] + "3" + classes[151:]
	if b := retransformed(t, 200, "-", classes); b.wrong != 0 || b.stops > 2+bits.Len(20) {
		t.Errorf("%+v; %s", b, classes)
	}
}

// If it is the JVM's operation that fails, whatever the class, it is not tried for each class.
func TestRefusedOperation(t *testing.T) {
	if b := retransformed(t, 200, "f", strings.Repeat("0", 1000)); b.wrong != 0 || b.stops > 10 {
		t.Errorf("%+v", b)
	}
}
