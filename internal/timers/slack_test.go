package timers

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// All threads have the slack afterwards, where the process may set it.
func TestLenient(t *testing.T) {
	if err := Lenient(); errors.Is(err, os.ErrPermission) {
		t.Skipf("without CAP_SYS_NICE: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range threads {
		got, err := os.ReadFile("/proc/" + x.Name() + "/timerslack_ns")
		if err == nil && strings.TrimSpace(string(got)) != slack {
			t.Errorf("thread %s has a slack of %s", x.Name(), got)
		}
	}
}
