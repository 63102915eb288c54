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
		threads, err := p.List(os.Getpid())
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
