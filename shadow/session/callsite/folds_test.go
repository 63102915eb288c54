package callsite_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/store"
)

// indexOf is the index of a session of executors. A thread of each name is a worker of the executor at its place.
func indexOf(t *testing.T, executors []store.Executor, workers []string) *callsite.Index {
	t.Helper()
	p := &store.Part{Range: store.Range{From: 1, To: 1}}
	for i, e := range executors {
		e.ID = uint32(i + 1)
		p.Executors = append(p.Executors, e)
	}
	for i, name := range workers {
		p.Threads = append(p.Threads, store.Thread{ID: uint32(i + 1), JavaID: int64(i + 20), Name: name, Executor: uint32(i + 1)})
	}
	return indexOfPart(t, p)
}

func indexOfPart(t *testing.T, p *store.Part) *callsite.Index {
	t.Helper()
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest = store.Manifest{Session: "s", StartNs: 1, EndNs: 100, Ended: store.EndedExit}
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	x, err := callsite.Of(s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestExecutorsOfOneLine: those that a program makes at one line have one label, pools with threads of their own only if they
// are very many.
func TestExecutorsOfOneLine(t *testing.T) {
	made := func(n int, change func(i int, e *store.Executor)) (all []store.Executor) {
		for i := range n {
			e := store.Executor{Class: "app.Serial", MadeIn: "app.Main.call", File: "Main.java", Line: 7}
			if change != nil {
				change(i, &e)
			}
			all = append(all, e)
		}
		return all
	}
	names := func(n int, form string) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf(form, i+1))
		}
		return all
	}
	for _, c := range []struct {
		name      string
		executors []store.Executor
		workers   []string
		want      string // the labels, with the number of executors in each
	}{
		{"of one line", made(3, nil), nil, "Main.java:7 (Serial): 3"},
		{"of two lines", made(4, func(i int, e *store.Executor) { e.Line += int32(i % 2) }), nil, "Main.java:7 (Serial): 2, Main.java:8 (Serial): 2"},
		{"of two classes", made(2, func(i int, e *store.Executor) { e.Class += fmt.Sprint(i) }), nil, "Main.java:7 (Serial0): 1, Main.java:7 (Serial1): 1"},
		{"of two names", made(4, func(i int, e *store.Executor) { e.Name = fmt.Sprintf("%s-%d", []string{"tax", "mail"}[i%2], i) }), nil,
			"mail (Serial, Main.java:7): 2, tax (Serial, Main.java:7): 2"},
		{"of very many names", made(20, func(i int, e *store.Executor) { e.Name = strings.Repeat("x", i+1) }), nil, "x (Serial, Main.java:7): 20"},
		{"of an unknown line", made(3, func(_ int, e *store.Executor) { e.MadeIn, e.File, e.Line = "", "", 0 }), nil, "app.Serial#1: 3"},
		{"of an unknown line, by their threads", made(2, func(_ int, e *store.Executor) { e.MadeIn, e.File, e.Line = "", "", 0 }), []string{"tax-1", "mail-1"}, "mail (Serial): 1, tax (Serial): 1"},
		{"few pools", made(2, nil), names(2, "tax-%d"), "tax (Serial, Main.java:7) #1: 1, tax (Serial, Main.java:7) #2: 1"},
		{"very many pools", made(20, nil), names(20, "pool-%d-thread-1"), "Main.java:7 (Serial): 20"},
		{"few pools of very many executors", made(20, nil), names(1, "tax-%d"), "Main.java:7 (Serial): 19, tax (Serial, Main.java:7): 1"},
	} {
		x := indexOf(t, c.executors, c.workers)
		each := x.Each()
		in, apart := map[string]int64{}, map[string]bool{}
		for i := range c.executors {
			in[x.ExecutorLabel(uint32(i+1))]++
			apart[each.ExecutorLabel(uint32(i+1))] = true
		}
		var got []string
		for _, label := range slices.Sorted(maps.Keys(in)) {
			if x.ExecutorsIn(label) != in[label] {
				t.Errorf("%s: %q is said to be %d executors, but is %d", c.name, label, x.ExecutorsIn(label), in[label])
			}
			got = append(got, fmt.Sprintf("%s: %d", label, in[label]))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, text, c.want)
		}
		if len(apart) != len(c.executors) {
			t.Errorf("%s: each has a label of its own, but there are %d of %d: %v", c.name, len(apart), len(c.executors), apart)
		}
	}
}
