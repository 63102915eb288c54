package instrument

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/agent/classfile"
	"stackagent/agent/jimage"
	"stackagent/internal/settings"
	"stackagent/internal/testjvm"
	"stackagent/internal/units"
)

var update = flag.Bool("update", false, "write the golden files of plans and listings anew")

func checkUpdatable(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join("testdata", file), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	checkGolden(t, file, got)
}

// TestPlans compares the plans of all fixtures.
func TestPlans(t *testing.T) {
	jdk := testjvm.JDKs(t)[0]
	p := compile(t, jdk, "main")
	custom, err := ParseTaskDefinition("fx.Shapes$Nev*#exec()Z")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Tasks: []TaskDefinition{custom}}
	h := p.hierarchy(t, jdk, o)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.classes)) {
		plan, err := NewPlan(Input{Class: p.classes[name], Supers: h}, o)
		switch {
		case err != nil:
			fmt.Fprintf(&b, "class %s: %v\n", name, err)
		case plan == nil:
			fmt.Fprintf(&b, "class %s: nothing\n", name)
		default:
			b.WriteString(plan.String())
		}
	}
	checkUpdatable(t, "plans.golden", b.String())
}

// TestJDKPlans checks the plans of the platform's most important classes.
func TestJDKPlans(t *testing.T) {
	for _, jdk := range testjvm.JDKs(t) {
		im := image(t, jdk)
		h := NewImageHierarchy(im.Class, Options{})
		tests := []struct {
			class string
			since int
			want  []string // lines of the plan
		}{
			{nameThread, 0, []string{"kinds=thread+runnable+jdk", "slot in (", "execution run()V enter\n", "created=1"}},
			{nameClassValues, 0, []string{"field stackagent$class"}},
			{nameLambdaArchive, 0, []string{"no lambdas from the archive"}},
			{"java/util/concurrent/FutureTask", 0, []string{"kinds=runnable+jdk", "field stackagent$id", "execution run()V enter\n"}},
			{"java/util/concurrent/RecursiveTask", 0, []string{"kinds=forkjoin+jdk", "execution exec()Z enter\n"}},
			{"java/util/concurrent/Executors$RunnableAdapter", 0, []string{"kinds=callable+jdk", "execution call()Ljava/lang/Object; enter\n"}},
			{nameVirtualThread, 21, []string{"kinds=thread+runnable+jdk+virtual", "execution run(Ljava/lang/Runnable;)V started\n",
				"start of mount()V mounted", "start of unmount()V unmounting",
				"start of tryYield()V yielding", "start of submitRunContinuation()V ready", "start of lazySubmitRunContinuation"}},
			{nameForkJoinTask + "$RunnableExecuteAction", 0, []string{"constructor (Ljava/lang/Runnable;)V adapted=1"}},
			{nameForkJoinTask + "$AdaptedRunnableAction", 0, []string{"constructor (Ljava/lang/Runnable;)V adapted=1"}},
			{nameVirtualThread, 24, []string{"around the switch in yieldContinuation leaving returned\n"}},
			{nameVirtualThread, 21, []string{"execution sleepNanos(J)V sleeping\n"}},
			{namePoller, 21, []string{"execution poll(IJLjava/util/function/BooleanSupplier;)V polling\n"}},
		}
		for _, tt := range tests {
			if jdk.Version < tt.since {
				continue
			}
			checkPlanLines(t, jdk, im, h, Options{Asked: settings.Settings{Wait: 1}}, tt.class, tt.want)
		}
	}
}

// checkPlanLines checks that the plan of a class of the JDK has the given lines, and no
// note of something missing.
func checkPlanLines(t *testing.T, jdk testjvm.JDK, im *jimage.Image, h Hierarchy, o Options, class string, want []string) {
	t.Helper()
	b, err := im.Class(class)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(Input{Class: b, Supers: h, Platform: true}, o)
	if err != nil || plan == nil {
		t.Errorf("%s: %s: plan %v, error %v", jdk, class, plan, err)
		return
	}
	for _, line := range want {
		if !strings.Contains(plan.String(), line) {
			t.Errorf("%s: no %q in\n%s", jdk, line, plan)
		}
	}
	if strings.Contains(plan.String(), "note:") {
		t.Errorf("%s: %s", jdk, plan)
	}
}

// TestMountMissing: a JDK without the methods is noted, not refused.
func TestMountMissing(t *testing.T) {
	in := Input{Class: header(nameVirtualThread, "java/lang/BaseVirtualThread"), Supers: knowsAll{}, Platform: true}
	plan, err := NewPlan(in, Options{})
	if err != nil || plan == nil || len(plan.Notes) != 4 || plan.Kinds&units.KindVirtual == 0 {
		t.Fatalf("plan %v, error %v", plan, err)
	}
	if _, err := plan.Weave(); err != nil {
		t.Error(err)
	}
}

// TestListings compares woven methods, instruction by instruction.
func TestListings(t *testing.T) {
	jdk := testjvm.JDKs(t)[0]
	p := compile(t, jdk, "main")
	h := p.hierarchy(t, jdk, Options{})
	checkUpdatable(t, "listings.golden", listings(t, p, h, Options{},
		"fx/Shapes$Named.run", "fx/Shapes$NotYet.run", "fx/Shapes$Bridge.call",
		"fx/Shapes$Named.<init>",
		"fx/Bodies$LoopAtZero.run", "fx/Bodies$Sync.run",
		"fx/Constructors$Plain.<init>", "fx/Constructors$Ternary.<init>",
	))
}

// listings weaves the classes of methods, given as class.method, and lists these.
func listings(t *testing.T, p program, h Hierarchy, o Options, methods ...string) string {
	t.Helper()
	var b strings.Builder
	for _, m := range methods {
		class, method, _ := strings.Cut(m, ".")
		out, err := weaveClass(Input{Class: p.classes[class], Supers: h}, o)
		if err != nil {
			t.Fatal(err)
		}
		c, err := classfile.Parse(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range c.Methods {
			if member.Name == method {
				list(t, &b, member)
			}
		}
	}
	return b.String()
}

// list writes a method as text, with the labels that something refers to.
func list(t *testing.T, b *strings.Builder, m *classfile.Member) {
	t.Helper()
	code, err := m.Code()
	if err != nil {
		t.Fatal(err)
	}
	l := newLister(code)
	fmt.Fprintf(b, "%s stack=%d locals=%d\n", m, code.MaxStack, code.MaxLocals)
	for _, in := range code.Insns {
		if in.Op == classfile.OpLabel {
			if name, ok := l.names[in.Label]; ok {
				fmt.Fprintf(b, " %s:\n", name)
			}
			if f := in.Label.Frame(); f != nil {
				fmt.Fprintf(b, "    frame %s | %s\n", l.types(f.Locals), l.types(f.Stack))
			}
			continue
		}
		fmt.Fprintf(b, "    %s\n", l.insn(m.Class().Pool, in))
	}
	for _, h := range code.Handlers {
		fmt.Fprintf(b, "  catch %s %s..%s -> %s\n", h.CatchType, l.names[h.Start], l.names[h.End], l.names[h.Target])
	}
}

// lister names labels by their position.
type lister struct{ names map[*classfile.Label]string }

func newLister(code *classfile.Code) lister {
	used := map[*classfile.Label]bool{}
	for _, in := range code.Insns {
		for _, l := range targets(in) {
			used[l] = true
		}
	}
	for _, h := range code.Handlers {
		used[h.Start], used[h.End], used[h.Target] = true, true, true
	}
	l := lister{map[*classfile.Label]string{}}
	position := 0
	for _, in := range code.Insns {
		if in.Op != classfile.OpLabel {
			position++
		} else if used[in.Label] {
			l.names[in.Label] = fmt.Sprintf("L%d", position)
		}
	}
	return l
}

func (l lister) insn(p *classfile.Pool, in *classfile.Insn) string {
	s := in.String()
	if in.Op.IsInvoke() || in.Op >= classfile.OpGetstatic && in.Op <= classfile.OpPutfield {
		owner, name, desc, err := p.MemberRef(in.Index)
		if err == nil {
			s = fmt.Sprintf("%s %s.%s%s", in.Op, owner, name, desc)
		}
	}
	if i := strings.IndexByte(s, '#'); i >= 0 {
		s = s[:i] + "(pool)" // the index depends on the compiler
	}
	for _, t := range targets(in) {
		s += " " + l.names[t]
	}
	return s
}

func (l lister) types(types []classfile.VerificationType) string {
	var words []string
	for _, t := range types {
		word := [...]string{"top", "int", "float", "double", "long", "null", "uninitializedThis", t.ClassName, "uninitialized"}[t.Tag]
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
