package classfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testjvm"
)

// verifyAll makes a JVM verify its own classes, too.
var verifyAll = []string{"-Xshare:off", "-XX:+UnlockDiagnosticVMOptions",
	"-XX:+BytecodeVerificationLocal", "-XX:+BytecodeVerificationRemote"}

// compileJava compiles testdata/java and gives the classes by file name.
func compileJava(t testing.TB, jdk testjvm.JDK) (dir string, classes map[string][]byte) {
	t.Helper()
	// Version 52 keeps Plain free of invokedynamic; Modern needs 61.
	dir = t.TempDir()
	classes = map[string][]byte{}
	for source, release := range map[string]string{"Plain": "8", "Modern": "17", "Verify": "17"} {
		in := t.TempDir()
		text, err := os.ReadFile("testdata/java/" + source + ".java")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(in, source+".java"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		out := testjvm.Compile(t, jdk, in, "-g", "-Xlint:-options", "--release", release)
		err = filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".class" {
				return err
			}
			b, err := os.ReadFile(path)
			classes[filepath.Base(path)] = b
			return errors.Join(err, os.WriteFile(filepath.Join(dir, filepath.Base(path)), b, 0o644))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(classes) < 12 {
		t.Fatalf("%d classes compiled", len(classes))
	}
	return dir, classes
}

// transform parses a class, applies f to it and to every method body, and
// writes it.
func transform(b []byte, class func(*Class), f func(*Code)) ([]byte, error) {
	c, err := Parse(b)
	if err != nil {
		return nil, err
	}
	class(c)
	for _, m := range c.Methods {
		code, err := m.Code()
		if err != nil {
			return nil, err
		}
		if code != nil {
			f(code)
			code.Edited()
		}
	}
	return c.Write()
}

// probe counts in a new local before every instruction, which makes every
// frame, range and offset move.
func probe(c *Code) {
	slot := c.AddIntLocal()
	c.InsertBefore(c.First(), NewConstInsn(1<<20), NewVarInsn(OpIstore, slot))
	// What InsertBeforeTargeted would do one by one, in linear time.
	var list []*Insn
	for _, in := range c.Insns[2:] {
		list = append(list, in)
		if in.Op == OpLabel {
			continue
		}
		at := len(list) - 1
		for at > 0 && list[at-1].Op == OpLabel && list[at-1].Label.pinned {
			at--
		}
		list = slices.Insert(list, at, NewIincInsn(slot, 1))
	}
	c.Insns = append(c.Insns[:2:2], list...)
	c.MaxStack = max(c.MaxStack, 1)
}

// nops puts a nop before and after every instruction by the methods for it.
func nops(c *Code) {
	for _, in := range append([]*Insn(nil), c.Insns...) {
		if in.Op == OpLabel {
			continue
		}
		c.InsertBeforeTargeted(in, NewInsn(OpNop))
		if !in.Op.Ends() {
			c.InsertAfter(in, NewInsn(OpNop))
		}
	}
	c.InsertBefore(c.First(), NewInsn(OpNop))
}

// TestRun runs programs as compiled and after edits that must not change what
// they do, with everything verified.
func TestRun(t *testing.T) {
	jdks := testjvm.JDKs(t)
	asCompiled := map[string]testjvm.Result{} // by JDK and main class
	same := func(*Class) {}
	near := func(c *Class) { c.jumpLimit = 20 }
	version := func(v uint16) func(*Class) {
		return func(c *Class) {
			c.Major = v
			c.jumpLimit = 20
		}
	}
	for i, tt := range []struct {
		name  string
		class func(*Class)
		code  func(*Code)
		mains []string
	}{
		{"encoded", same, func(*Code) {}, []string{"Plain", "Modern"}},
		{"nops", same, nops, []string{"Plain", "Modern"}},
		{"probes", same, probe, []string{"Plain", "Modern"}},
		{"far jumps", near, func(*Code) {}, []string{"Plain", "Modern"}},
		{"probes and far jumps", near, probe, []string{"Plain", "Modern"}},
		{"version 49", version(49), probe, []string{"Plain"}},
		{"version 50", version(50), probe, []string{"Plain"}},
		{"version 51", version(51), probe, []string{"Plain"}},
	} {
		for k, jdk := range jdks {
			if i%len(jdks) != k && os.Getenv("STACKAGENT_ALL_CLASSES") != "1" {
				continue // they take turns
			}
			t.Run(tt.name+"/"+jdk.String(), func(t *testing.T) {
				dir, classes := compileJava(t, jdk)
				edited := t.TempDir()
				for name, b := range classes {
					out, err := transform(b, tt.class, tt.code)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if err := os.WriteFile(filepath.Join(edited, name), out, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				for _, main := range tt.mains {
					run := func(dir string) testjvm.Result {
						return testjvm.Command{JDK: jdk, VM: verifyAll[1:], Classpath: dir, Main: main}.Plain(t)
					}
					key := jdk.String() + main
					want, ran := asCompiled[key]
					if !ran {
						want = run(dir)
						asCompiled[key] = want
					}
					got := run(edited)
					if want.Exit != 0 || len(want.Stdout) < 100 {
						t.Fatalf("%s ended with %d\n%s", main, want.Exit, want.Stderr)
					}
					if got.Exit != 0 || got.Stdout != want.Stdout {
						t.Errorf("%s edited ended with %d\n%s%.4000s", main, got.Exit, got.Stdout, got.Stderr)
					}
				}
			})
		}
	}
}

// brokenClass is spoiled on purpose: a run that does not reject it verified
// nothing.
const brokenClass = "java/util/logging/XMLFormatter"

// finalizable is left alone: were Object.finalize not empty, the JVM would
// register every object for finalization, before it can.
const finalizable = "java/lang/Object"

// TestVerify has JVMs verify their own classes with a probe before every
// instruction and, in every other class, all conditional jumps turned into far
// ones. It takes a sample; a third of the classes if STACKAGENT_ALL_CLASSES is 1,
// all with STACKAGENT_E2E=full: agent/instrument has all verified as the agent
// changes them.
func TestVerify(t *testing.T) {
	if testing.Short() {
		t.Skip("takes tens of seconds, to start JVMs from rewritten JDKs; run it without -short")
	}
	step := 20
	switch {
	case os.Getenv("STACKAGENT_E2E") == "full":
		step = 1
	case os.Getenv("STACKAGENT_ALL_CLASSES") == "1":
		step = 3
	}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) { verifyImage(t, jdk, step) })
	}
}

func verifyImage(t *testing.T, jdk testjvm.JDK, step int) {
	dir := t.TempDir()
	modules := map[string]bool{}
	var list []string
	tooLarge, n := 0, 0
	keep := func(module, name string, b []byte) {
		modules[module] = true
		list = append(list, module+" "+name)
		path := filepath.Join(dir, module, name+".class")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	eachClass(t, jdk, 1, func(module, name string, b []byte) {
		code, class := probe, func(*Class) {}
		if name == brokenClass {
			code = func(c *Code) { c.InsertBefore(c.First(), NewInsn(OpPop)) }
		} else if n++; n%step != 0 || strings.HasSuffix(name, "-info") || name == finalizable {
			return
		}
		if len(list)%2 == 0 && name != brokenClass {
			class = func(c *Class) { c.jumpLimit = 40 }
		}
		out, err := transform(b, class, code)
		var tl *TooLargeError
		if errors.As(err, &tl) {
			tooLarge++
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		keep(module, name, out)
	})
	classes, _ := compileJava(t, testjvm.JDKs(t)[0])
	names := filepath.Join(t.TempDir(), "names")
	if err := os.WriteFile(names, []byte(strings.Join(list, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	vm := append([]string{"--add-modules", "ALL-SYSTEM"}, verifyAll...)
	for m := range modules {
		vm = append(vm, "--patch-module", m+"="+filepath.Join(dir, m))
	}
	res := testjvm.Command{JDK: jdk, VM: vm, Classpath: classes, Main: "Verify",
		Args: []string{names}, Timeout: 45 * time.Minute}.Plain(t)
	if res.Exit != 0 {
		t.Fatalf("ended with %d\n%.3000s\n%.3000s", res.Exit, res.Stdout, res.Stderr)
	}
	checkVerified(t, res.Stdout, len(list))
	t.Logf("%d classes verified, %d left out because a method became too large", len(list)-1, tooLarge)
}

// checkVerified reads what Verify printed: only the broken class may be
// rejected, and all others must have been linked.
func checkVerified(t *testing.T, out string, want int) {
	broken, missing := 0, 0
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for _, l := range lines[:len(lines)-1] {
		switch {
		case strings.HasPrefix(l, "REJECTED java.logging "+brokenClass+": java.lang.VerifyError"):
			broken++
		case strings.HasPrefix(l, "missing"):
			missing++
			t.Log(l)
		default:
			t.Error(l)
		}
	}
	if broken != 1 {
		t.Error("the broken class was not rejected")
	}
	if last := fmt.Sprintf("linked %d", want-broken-missing); lines[len(lines)-1] != last {
		t.Errorf("%q, want %q", lines[len(lines)-1], last)
	}
	if missing > want/100 {
		t.Errorf("%d of %d classes were missing something and not verified", missing, want)
	}
}
