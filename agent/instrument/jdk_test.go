package instrument

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"stackagent/agent/classfile"
	"stackagent/internal/settings"
	"stackagent/internal/testjvm"
)

// everything makes every class a task and every method an execution method, and
// records all call sites, submissions and constructions.
var everything = Options{Tasks: []TaskDefinition{{Class: "*", Method: "*"}}, Asked: settings.Settings{Submissions: true, Construction: true},
	Sites: someSite{}, everywhere: true}

// someSite gives each site the same number.
type someSite struct{}

func (someSite) Add(Site) int32 { return 1 }

// brokenClass gets code that no verifier accepts. If the JVM accepts it, the JVM did not
// verify anything.
const brokenModule, brokenClass = "java.logging", "java/util/logging/XMLFormatter"

// sampleStep is N: every Nth class of the JDK is woven.
func sampleStep(o Options) int {
	switch all := os.Getenv("STACKAGENT_ALL_CLASSES"); {
	case all == "counting", all == "1" && !o.Count:
		return 1
	case all == "1":
		return 5
	}
	return 10
}

// TestAllClasses weaves the classes of the JDKs, with probes in every method
// and constructor, starts a JVM from the result and has it verify each.
func TestAllClasses(t *testing.T) {
	counting := everything
	counting.Count = true
	for i, jdk := range testjvm.JDKs(t) {
		all := os.Getenv("STACKAGENT_ALL_CLASSES") == "1" // else each JDK in one of the two ways
		if all || i%2 == 1 {
			t.Run(jdk.String(), func(t *testing.T) { allClasses(t, jdk, everything) })
		}
		if all || i%2 == 0 {
			t.Run(jdk.String()+" counting", func(t *testing.T) { allClasses(t, jdk, counting) })
		}
	}
}

func allClasses(t *testing.T, jdk testjvm.JDK, o Options) {
	w := &imageWeaver{t: t, jdk: jdk, options: o, dir: t.TempDir(), refused: map[string][]string{}, left: map[string][]string{}, modules: map[string]bool{}}
	w.weave()
	for reason, names := range w.refused {
		sort.Strings(names)
		report := t.Errorf
		if reason == string(ReasonJIT) {
			report = t.Logf // correct for tables in code, which run once
		}
		report("refused, %s: %d classes: %.2000s", reason, len(names), strings.Join(names, " "))
	}
	for reason, names := range w.left {
		t.Logf("left, %s: %d: %.2000s", reason, len(names), strings.Join(names, " "))
	}
	w.breakOne()
	lines := w.verify()
	rejected := 0
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "REJECTED "+brokenModule+" "+brokenClass+": java.lang.VerifyError"):
			rejected++
		case strings.HasPrefix(l, "REJECTED"), strings.HasPrefix(l, "no "):
			t.Error(l)
		case strings.HasPrefix(l, "missing"):
			t.Log(l)
		}
	}
	if rejected != 1 {
		t.Error("the deliberately broken class was not rejected: nothing was verified")
	}
	want := fmt.Sprintf("linked %d woven %d", len(w.list), len(w.list))
	if last := lines[len(lines)-1]; last != want && len(w.list) > 0 {
		t.Errorf("got %q, want %q", last, want)
	}
}

// imageWeaver weaves a JDK's classes into one folder per module.
type imageWeaver struct {
	t       *testing.T
	jdk     testjvm.JDK
	options Options
	dir     string
	list    []string // "module class" of the woven classes
	refused map[string][]string
	left    map[string][]string // methods that are not counted
	modules map[string]bool
}

func (w *imageWeaver) weave() {
	im := image(w.t, w.jdk)
	h := NewImageHierarchy(im.Class, w.options)
	step, n, spent := sampleStep(w.options), 0, time.Duration(0)
	err := im.Each(func(module, name string, b []byte) error {
		n++
		if n%step != 0 || name == brokenClass {
			return nil
		}
		start := time.Now()
		out, left, err := weaveClassLeft(Input{Class: b, Supers: h, Platform: true}, w.options)
		for _, r := range left {
			w.left[string(r.Reason)] = append(w.left[string(r.Reason)], name+"."+r.Member)
		}
		spent += time.Since(start)
		if err != nil {
			w.refused[reasonOf(err)] = append(w.refused[reasonOf(err)], name)
			return nil
		}
		if strings.Contains(string(out), nameProbes) {
			w.write(module, name, out)
			w.list = append(w.list, module+" "+name)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Logf("%s: %d classes, %d woven, %v each", w.jdk, n, len(w.list), spent/time.Duration(max(1, n/step)))
	if len(w.list) < n/step/2 {
		w.t.Errorf("only %d of %d classes woven", len(w.list), n/step)
	}
}

func (w *imageWeaver) write(module, name string, b []byte) {
	w.modules[module] = true
	writeClass(w.t, filepath.Join(w.dir, module), name, b)
}

// breakOne puts a pop on the empty stack at the start of every method of the
// broken class.
func (w *imageWeaver) breakOne() {
	b, err := image(w.t, w.jdk).Class(brokenClass)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := classfile.Parse(b)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range c.Methods {
		code, err := m.Code()
		if err != nil || code == nil {
			w.t.Fatalf("%s: %v", m, err)
		}
		code.InsertBefore(code.First(), classfile.NewInsn(classfile.OpPop))
	}
	if b, err = c.Write(); err != nil {
		w.t.Fatal(err)
	}
	w.write(brokenModule, brokenClass, b)
}

// verify links all woven classes in a JVM that was patched with them.
func (w *imageWeaver) verify() []string {
	list := filepath.Join(w.t.TempDir(), "classes")
	text := strings.Join(append(w.list, brokenModule+" "+brokenClass), "\n")
	if err := os.WriteFile(list, []byte(text+"\n"), 0o644); err != nil {
		w.t.Fatal(err)
	}
	oldest := testjvm.JDKs(w.t)[0]
	vm := append([]string{"-Xshare:off", "--add-modules", "ALL-SYSTEM"}, verifyEverything...)
	w.modules["java.base"] = true
	for m := range w.modules {
		path := filepath.Join(w.dir, m)
		if m == "java.base" {
			path = probes(w.t, oldest, "silent") + string(os.PathListSeparator) + path
		}
		vm = append(vm, "--patch-module", m+"="+path)
	}
	res := testjvm.Command{JDK: w.jdk, VM: vm, Classpath: compile(w.t, oldest, "main").dir,
		Main: "tool.Verify", Args: []string{list}, Timeout: 45 * time.Minute}.Plain(w.t)
	if res.Exit != 0 {
		w.t.Fatalf("the patched JVM ended with %d\n%.4000s\n%.4000s", res.Exit, res.Stdout, res.Stderr)
	}
	return strings.Split(strings.TrimSpace(res.Stdout), "\n")
}
