package testjvm

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A kept run is returned as it was; the sessions that were not opened for the longest time go when there is no room.
func TestKeptSessions(t *testing.T) {
	base := t.TempDir()
	for i, name := range []string{"old", "used", "new"} {
		p := Profile{Result: Result{Stdout: name, Exit: i}, Dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(p.Dir, "manifest.json"), make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		kept := filepath.Join(base, name)
		keep(t, p, base, kept)
		at := time.Now().Add(time.Duration(i-9) * time.Hour)
		if err := os.Chtimes(kept, at, at); err != nil {
			t.Fatal(err)
		}
	}
	p, err := openKept(filepath.Join(base, "old"))
	if err != nil || p.Stdout != "old" {
		t.Fatalf("%+v, %v", p, err)
	}
	prune(base, 2500)
	left, err := filepath.Glob(filepath.Join(base, "*", "session", "manifest.json"))
	for i := range left {
		left[i] = filepath.Base(filepath.Dir(filepath.Dir(left[i])))
	}
	if err != nil || !slices.Equal(left, []string{"new", "old"}) {
		t.Errorf("left are %v, %v", left, err)
	}
}

// Another option, class or argument is another session.
func TestKeyOfSessions(t *testing.T) {
	if _, err := os.Stat(filepath.Join(Root(t), "bin", "shadow")); err != nil {
		t.Skip("run `make` first")
	}
	classes := t.TempDir()
	class := filepath.Join(classes, "Main.class")
	if err := os.WriteFile(class, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Command{JDK: JDK{Home: "h", Full: "17.0.1"}, Classpath: classes, Main: "Main", Args: []string{"1", "2"}}
	keys := []string{c.key(t)}
	for _, change := range []func(*Command){
		func(c *Command) { c.Args = []string{"12"} },
		func(c *Command) { c.VM = []string{"-Xint"} },
		func(c *Command) { c.Agent = []string{"-Xint"} },
		func(c *Command) { c.JDK.Full = "17.0.2" },
		func(c *Command) { c.Main = "Other" },
	} {
		other := c
		change(&other)
		keys = append(keys, other.key(t))
	}
	if err := os.WriteFile(class, []byte("2"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys = append(keys, c.key(t))
	slices.Sort(keys)
	if n := len(slices.Compact(slices.Clone(keys))); n != 7 {
		t.Errorf("%d keys of 7 different runs", n)
	}
}
