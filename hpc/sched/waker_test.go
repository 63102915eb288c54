package sched

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stackagent/internal/testjvm"
	"stackagent/internal/units"
)

// A wait ends by the thread that was on the CPU, if it is in a system call that can end it; else an interrupt did it.
func TestWaker(t *testing.T) {
	for _, c := range []struct {
		name  string
		state State
		by    onCPU
		want  Waker
	}{
		{"not reported", Futex, onCPU{}, NoWaker},
		{"a lock released", Futex, onCPU{true, 1, 6, unix.SYS_FUTEX}, WakerThread(1)},
		{"a thread that exits", Futex, onCPU{true, 1, 6, unix.SYS_EXIT}, WakerThread(1)},
		{"a signal", Sleeping, onCPU{true, 1, 6, unix.SYS_TGKILL}, WakerThread(1)},
		{"a time limit, while another thread computed", Futex, onCPU{true, 1, 6, -1}, Outside},
		{"a time limit, while another thread read a file", Futex, onCPU{true, 1, 6, unix.SYS_READ}, Outside},
		{"a time limit, while the CPU was idle", Futex, onCPU{true, 0, 0, 0}, Outside},
		{"a sleep that was over, while another thread released a lock", Sleeping, onCPU{true, 1, 6, unix.SYS_FUTEX}, Outside},
		{"written to", IO, onCPU{true, 1, 6, unix.SYS_WRITE}, WakerThread(1)},
		{"a device, while another thread computed", IO, onCPU{true, 1, 6, -1}, Outside},
		{"another process", Futex, onCPU{true, 2, 9, unix.SYS_FUTEX}, Outside},
		{"the end of the process", Futex, onCPU{true, 1, 6, unix.SYS_EXIT_GROUP}, Cut},
		{"the end of the process, in a read", IO, onCPU{true, 1, 6, unix.SYS_EXIT_GROUP}, Cut},
		{"a time limit, while another process ended", Futex, onCPU{true, 2, 9, unix.SYS_EXIT_GROUP}, Outside},
		{"the end of another process", IO, onCPU{true, 2, 9, unix.SYS_EXIT_GROUP}, NoWaker},
		{"the process was killed", Futex, onCPU{true, 2, 9, unix.SYS_KILL}, NoWaker},
		{"a thread that is not known", Futex, onCPU{true, 1, 7, unix.SYS_FUTEX}, NoWaker},
	} {
		b := newBuilder(1, 0)
		first, second := made(10), made(10)
		second.tid = 6
		end := wake(70)
		end.waker = c.by
		for _, e := range []event{first, second, in(20, 0), out(50, 1, 30, c.state), end} {
			b.apply(&e)
		}
		want := Slice{Thread: 0, State: c.state, From: 50, To: 70, Waker: c.want}
		if got := b.slices[len(b.slices)-1]; got != want {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

// A wait that goes beyond parts has its waker in each, also where the read begins or ends in the middle; the record of
// a second shadow has threads of its own.
func TestWakerAcrossParts(t *testing.T) {
	dir := t.TempDir()
	threads := []ThreadRow{{0, Thread{TID: 5, Last: 400, CPU: units.NotMeasured}}, {1, Thread{TID: 6, Last: 400, CPU: units.NotMeasured}}}
	write := func(pid int, parts ...Part) {
		w, err := Create(filepath.Join(dir, Folder), Record{Source: "ebpf", PID: pid})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			p.Threads = append([]ThreadRow(nil), threads...)
			if err := w.Write(&p); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(1, Part{From: 0, To: 100, Slices: []Slice{{0, Running, 0, 40, 0, 0}, {0, Futex, 40, 100, 0, 0}, {1, IO, 0, 100, 0, 0}}},
		Part{From: 100, To: 200, Slices: []Slice{{0, Futex, 100, 200, 0, 0}, {1, IO, 100, 150, Outside, 0}, {1, Futex, 150, 200, 0, 0}}},
		Part{From: 200, To: 300, Slices: []Slice{{0, Futex, 200, 210, WakerThread(1), 0}, {0, Running, 210, 300, 0, 0}, {1, Futex, 200, 300, 0, 0}}})
	write(1, Part{From: 300, To: 400, Slices: []Slice{{0, Running, 300, 400, 0, 0}, {1, Futex, 300, 350, WakerThread(0), 0}}})
	want := []Slice{{0, Running, 0, 40, 0, 0}, {1, IO, 0, 100, Outside, 0}, {0, Futex, 40, 100, WakerThread(1), 0},
		{0, Futex, 100, 200, WakerThread(1), 0}, {1, IO, 100, 150, Outside, 0}, {1, Futex, 150, 200, 0, 0},
		{0, Futex, 200, 210, WakerThread(1), 0}, {1, Futex, 200, 300, 0, 0}, {0, Running, 210, 300, 0, 0},
		{2, Running, 300, 400, 0, 0}, {3, Futex, 300, 350, WakerThread(2), 0}}
	r := open(t, dir)
	if got := all(t, r, 0, 400); !reflect.DeepEqual(got, want) || len(r.Damage()) > 0 {
		t.Errorf("got  %v\nwant %v; damage %v", got, want, r.Damage())
	}
	if got, want := all(t, r, 120, 130), []Slice{{0, Futex, 120, 130, WakerThread(1), 0}, {1, IO, 120, 130, Outside, 0}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestParseEndings(t *testing.T) {
	for _, bad := range []string{"1", "1:", ":1", "a:1", "1:b", "1:1,", "-1:1", "1:99999999999", "1:1;2:2", strings.Repeat("9", 40) + ":1"} {
		into := map[uint32][]ending{}
		if err := parseEndings(bad, 0, into); (err == nil) != (bad == "1:1,") {
			t.Errorf("%q: %v, %v", bad, into, err)
		}
	}
}

// Threads whose waits end in a known way: by the other one, by its write, by the time.
func TestWakersOfThreads(t *testing.T) {
	testjvm.OneGood(t, func(a *testjvm.Attempt) {
		for _, c := range []struct {
			mode, thread string
			state        State
			by           string // "": no thread of the process
		}{
			{"turns", "taker0", Futex, "taker1"},
			{"turns", "taker1", Futex, "taker0"},
			{"sleep", "sleeper", Sleeping, ""},
			{"limits", "limited0", Futex, ""},
			{"limits", "limited1", Futex, ""},
			{"limits_waking", "limited1", Futex, ""},
			{"limits_exiting", "napper", Futex, ""},
			{"join", "joiner", Futex, "leaver"},
			{"pipe", "reader", IO, "writer"},
			{"lock", "waiter", Futex, "holder"},
		} {
			x := observe(t, a, EBPF, c.mode, workMs)
			var right, in units.Ns
			for _, s := range x.slices[x.named(t, c.thread)] {
				if s.State != c.state {
					continue
				}
				by := "?"
				if i, ok := s.Waker.Thread(); ok {
					by = x.Record().Threads[i].Name
				} else if s.Waker == Outside {
					by = ""
				}
				if in += units.Ns(s.To - s.From); by == c.by {
					right += units.Ns(s.To - s.From)
				}
			}
			if in == 0 || float64(right) < 0.95*float64(in) {
				a.Errorf("%s: %v of %v in which %s waited (%v) ended by %q", c.mode, right.Duration(), in.Duration(), c.thread, c.state, c.by)
			}
		}
	})
}

// A wait that the end of the process cuts had a time limit, or not. Neither is a thread of the record, also in one that is continued.
func TestWakerAtTheEnd(t *testing.T) {
	for limited, want := range map[bool]Waker{false: Cut, true: CutLimited} {
		b := newBuilder(1, 0)
		leaves, end := out(50, 1, 30, Futex), wake(70)
		leaves.limited, end.waker = limited, onCPU{true, 1, 6, unix.SYS_EXIT_GROUP}
		for _, e := range []event{made(10), in(20, 0), leaves, end} {
			b.apply(&e)
		}
		got := b.slices[len(b.slices)-1].Waker
		if _, ok := got.Thread(); got != want || ok || !got.Cut() || got.moved(7) != got || !got.valid(0) {
			t.Errorf("limited %v: %d, want %d; a thread: %v", limited, got, want, ok)
		}
	}
	if WakerThread(3).Cut() || Outside.Cut() || NoWaker.Cut() {
		t.Error("a wait that somebody ended was cut")
	}
}
