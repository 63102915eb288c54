package perfevent

import (
	"strings"
	"syscall"
	"testing"
)

// The numbers are those of linux/perf_event.h: PERF_COUNT_HW_*, PERF_COUNT_SW_*,
// and for caches id | op << 8 | result << 16.
func TestParse(t *testing.T) {
	for name, want := range map[string]Event{
		"instructions":             {Type: 0, Config: 1, UserOnly: true},
		"instructions:uk":          {Type: 0, Config: 1},
		"cycles:u":                 {Type: 0, Config: 0, UserOnly: true},
		"ref_cycles":               {Type: 0, Config: 9, UserOnly: true},
		"branch-misses":            {Type: 0, Config: 5, UserOnly: true},
		"page-faults":              {Type: 1, Config: 2, Narrow: true},
		"context-switches":         {Type: 1, Config: 3},
		"task-clock:u":             {Type: 1, Config: 1, UserOnly: true, Narrow: true},
		"LLC-load-misses":          {Type: 3, Config: 0x10002, UserOnly: true},
		"LLC-loads":                {Type: 3, Config: 0x00002, UserOnly: true},
		"L1-dcache-store-misses":   {Type: 3, Config: 0x10100, UserOnly: true},
		"dTLB-prefetch-misses":     {Type: 3, Config: 0x10203, UserOnly: true},
		"iTLB-load-misses:uk":      {Type: 3, Config: 0x10004},
		"r01c2":                    {Type: 4, Config: 0x1c2, UserOnly: true},
		"rffffffffffffffff":        {Type: 4, Config: 1<<64 - 1, UserOnly: true},
		"stalled-cycles-backend:u": {Type: 0, Config: 8, UserOnly: true},
	} {
		want.Name = name
		if got, err := Parse(name); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
	for _, name := range []string{"", "instruction", "LLC-misses", "llc-loads", "r", "rxyz", "r10000000000000000", "cycles:k",
		"cpu/event=0x3c/", strings.Repeat("r", 100), ":u", "cycles:u:k"} {
		if e, err := Parse(name); err == nil {
			t.Errorf("%q is taken: %+v", name, e)
		}
	}
}

// Each name of the list is one, and reasons name a remedy.
func TestExplain(t *testing.T) {
	for _, name := range Names() {
		e, err := Parse(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, errno := range []syscall.Errno{syscall.EACCES, syscall.ENOENT, syscall.EMFILE, syscall.ENOSYS, syscall.EBUSY} {
			if why := Explain(e, errno); why == "" || strings.ContainsAny(why, "\n") {
				t.Errorf("%s, %v: %q", name, errno, why)
			}
		}
	}
	ref, _ := Parse("ref_cycles")
	if why := Explain(ref, syscall.ENOENT); !strings.Contains(why, "cpu") {
		t.Errorf("what stands in for reference cycles? %s", why)
	}
	cs, _ := Parse("cs")
	if why := Explain(cs, syscall.EACCES); !strings.Contains(why, "1 or less") {
		t.Errorf("switches need the kernel's side: %s", why)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range append(Names(), "LLC-load-misses", "r01c2", "cycles:uk", "") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Parse(s)
		if err != nil {
			return
		}
		if e.Name != s || len(s) > Longest || e.Type > Raw || e.Type == 2 {
			t.Fatalf("%q: %+v", s, e)
		}
		if e.Narrow && e.Type != Software {
			t.Fatalf("%q would count something else when narrowed", s)
		}
	})
}
