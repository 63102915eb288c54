package sched

import (
	"encoding/binary"
	"reflect"
	"testing"

	"stackagent/internal/proc"
	"stackagent/internal/units"
)

func TestStateOfSleep(t *testing.T) {
	for text, want := range map[string]State{
		"running\n": Blocked, "": Blocked, "-1 0x7ffd 0x1": Blocked,
		"202 0x7f 0x80 0x0\n": Futex, "0 0x3\n": IO, "230 0x0\n": Sleeping, "61 0x1\n": Blocked, // of amd64
	} {
		if got := stateOfSleep(proc.ParseSyscall([]byte(text))); got != want && blockingCalls[202] == Futex {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestParseCPUs(t *testing.T) {
	for text, want := range map[string][]int{"0": {0}, "0-2": {0, 1, 2}, "0-1,4,6-7": {0, 1, 4, 6, 7}} {
		if got, err := parseCPUs(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-", "3-1", "0-99999999", "a", "0,,1"} {
		if got, err := parseCPUs(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}

// switchRecord is a record as the kernel's programs write it.
func switchRecord(state, call uint32) []byte {
	b := make([]byte, switchSize)
	n := binary.NativeEndian
	n.PutUint64(b[recTime:], 77)
	n.PutUint32(b[recTGID:], 1)
	n.PutUint32(b[recTID:], 5)
	n.PutUint32(b[swPrevState:], state)
	n.PutUint32(b[swPrevCall:], call)
	n.PutUint32(b[swPrevCount:], 9)
	n.PutUint64(b[swPrevCPU:], 1234)
	n.PutUint32(b[swNextTGID:], 1)
	n.PutUint32(b[swNextTID:], 6)
	n.PutUint32(b[swNextCount:], 4)
	return b
}

func TestDecodeSwitch(t *testing.T) {
	const none = 1<<32 - 1
	for _, c := range []struct {
		state, call uint32
		want        State
		block, dead bool
	}{
		{taskInterruptible, 202, Futex, true, false},
		{taskInterruptible, none, Blocked, true, false},
		{taskUninterruptible, 202, IO, true, false},
		{taskStopped, 0, Blocked, true, false},
		{taskTraced, 0, Blocked, true, false},
		{taskInterruptible | 1<<preemptedBit, 202, Runnable, false, false}, // preempted on its way to sleep
		{0, 24, Runnable, false, false},                                    // sched_yield
		{taskDead, none, Blocked, true, true},
	} {
		if blockingCalls[202] != Futex {
			t.Skip("the cases have amd64's numbers of system calls, which are others here; the observed programs check those of this architecture")
		}
		got := new(accountClocks).appendRecord(nil, switchRecord(c.state, c.call))
		want := []event{
			{at: 77, pid: 1, tid: 5, kind: eventOut, state: c.want, block: c.block, dead: c.dead, counted: true, switches: 9, cpu: -1, cpuTime: 1234},
			{at: 77, pid: 1, tid: 6, kind: eventIn, after: true, counted: true, switches: 4, cpu: -1, cpuTime: units.NotMeasured},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("state %x, call %d:\ngot  %+v\nwant %+v", c.state, int32(c.call), got, want)
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(switchRecord(1, 202))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, e := range new(accountClocks).appendRecord(nil, b) {
			if e.state >= NStates || len(e.name) > commSize {
				t.Fatalf("%+v", e)
			}
		}
	})
}

func FuzzProc(f *testing.F) {
	f.Add([]byte("202 0x7f 0x80"))
	f.Add([]byte("0-3,7"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s := stateOfSleep(proc.ParseSyscall(b)); s >= NStates || s == Running {
			t.Fatalf("%q: %v", b, s)
		}
		if cpus, err := parseCPUs(string(b)); err == nil && len(cpus) == 0 {
			t.Fatalf("%q: no CPU", b)
		}
	})
}
