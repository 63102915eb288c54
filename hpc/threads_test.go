package hpc

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A thread's name is read when it is new, in the next scan, and then each second.
func TestNamesAreReadSeldom(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the test, renamed as it is
	name := func(s string) {
		if err := os.WriteFile(fmt.Sprintf("/proc/self/task/%d/comm", unix.Gettid()), []byte(s), 0); err != nil {
			t.Fatal(err)
		}
	}
	p := &procLister{}
	want := func(s string) {
		t.Helper()
		threads, err := p.List(os.Getpid(), false)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(threads, func(k Thread) bool { return k.ID.TID == unix.Gettid() })
		if i < 0 || threads[i].Name != s {
			t.Errorf("thread %d is not %q in %+v", unix.Gettid(), s, threads)
		}
	}
	name("first")
	want("first")
	name("second")
	p.read = time.Now().Add(time.Hour) // it is not yet time to read all
	want("second")
	name("third")
	want("second")
	p.read = time.Time{}
	want("third")
}

// While no thread of the machine has begun, the ids are listed once a second, and when the list must be fresh.
func TestListsOnlyWhenThreadsBegin(t *testing.T) {
	begun, pid := 1, os.Getpid()
	p := &procLister{newest: func() (int, error) { return begun, nil }}
	list := func(fresh bool) {
		t.Helper()
		if _, err := p.List(pid, fresh); err != nil {
			t.Fatal(err)
		}
	}
	for list(false); p.young; { // the test's own process may start a thread meanwhile
		list(false)
	}
	gone := 1 << 30 // no process has this number: to list its threads is an error
	p.read = time.Now().Add(time.Hour)
	if all, err := p.List(gone, false); err != nil || len(all) == 0 {
		t.Errorf("nothing has begun: %d threads, %v; want the last list", len(all), err)
	}
	if _, err := p.List(gone, true); err == nil {
		t.Error("a fresh list is not read")
	}
	begun++
	if _, err := p.List(gone, false); err == nil {
		t.Error("a thread has begun, and the list is not read")
	}
	begun--
	list(false)
	p.read = time.Now().Add(-renewEvery)
	if _, err := p.List(gone, false); err == nil {
		t.Error("a second has passed, and the list is not read")
	}
}
