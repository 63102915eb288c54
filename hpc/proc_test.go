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

// A thread's name is read when it is new, once more, and then each second.
func TestNamesAreReadSeldom(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the test, renamed as it is
	name := func(s string) {
		if err := os.WriteFile(fmt.Sprintf("/proc/self/task/%d/comm", unix.Gettid()), []byte(s), 0); err != nil {
			t.Fatal(err)
		}
	}
	p := &procTasks{}
	want := func(s string) {
		t.Helper()
		tasks, err := p.List(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(tasks, func(k Task) bool { return k.ID.TID == unix.Gettid() })
		if i < 0 || tasks[i].Name != s {
			t.Errorf("thread %d is not %q in %+v", unix.Gettid(), s, tasks)
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
