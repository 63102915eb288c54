// Package storetest makes sessions for tests.
package storetest

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// Attacks are names that a JVM may send, each with what it attacks.
var Attacks = map[string]string{
	"script":           "<script>alert(1)</script>",
	"attribute":        `"><img src=x onerror=alert(1)>`,
	"apostrophe":       "' onmouseover='alert(1)",
	"end of table":     "</td></tr></table></body></html><h1>mine",
	"comment":          "<!--",
	"end of script":    "</script><script>alert(2)</script>",
	"end of style":     "</style><style>body{display:none}",
	"cdata":            "]]><script>alert(3)</script>",
	"entity":           "&lt;script&gt;&#x1b;",
	"template":         "{{.Token}}{{range .}}",
	"svg":              `</text></svg><svg onload="alert(4)">`,
	"XML entity":       "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>&e;",
	"formula":          "=cmd|' /C calc'!A0",
	"formula plus":     "+1+1",
	"formula minus":    "-2+3+cmd|' /C calc'!A0",
	"formula at":       "@SUM(1+1)*cmd|' /C calc'!A0",
	"formula tab":      "\t=1+1",
	"formula CR":       "\r=1+1",
	"formula blank":    "  =1+1",
	"formula wide":     "＝1+1",
	"formula column":   "x;=1+1;y",
	"CSV quote":        "a\",\"=1+1\",\"b",
	"CSV line":         "a\n=1+1,b",
	"escape":           "\x1b[2J\x1b[31m",
	"title":            "\x1b]0;owned\a",
	"clipboard":        "\x1b]52;c;Y2FsYw==\a",
	"8-bit CSI":        "\u009b2J",
	"direction":        "user\u202egpj.exe",
	"isolates":         "\u2066x\u2069\u061c",
	"zero width":       "a\u200b\u200db\ufeff",
	"lines":            "a\r\nexecutions 0\u2028b\u0085c",
	"backspaces":       "abc\b\b\b\x7f",
	"nul":              "a\x00b",
	"bad UTF-8":        "a\xff\xc0\xafb",
	"surrogate":        "a\xed\xa0\x80b",
	"path":             "../../../../etc/passwd",
	"absolute path":    "/etc/passwd",
	"long":             strings.Repeat("longname.", wire.MaxString/9),
	"many combining":   "a" + strings.Repeat("\u0301", 500),
	"flag":             "--help",
	"empty":            "",
	"blank":            " ",
	"wide characters":  strings.Repeat("漢", 300),
	"format directive": "%s%n%d%!x(MISSING)",
	"shell":            "`id`$(id);rm -rf ~",
}

const (
	us = 1000
	ms = units.MonoNs(1_000_000)
)

// Hostile writes a session in which everything that a JVM can name has these names: a class, a thread and an
// execution for each. It returns its folder.
func Hostile(root string, names []string) (string, error) {
	w, err := store.OpenWriter(root, "h", "h")
	if err != nil {
		return "", fmt.Errorf("writing a session of hostile names: %w", err)
	}
	all := strings.Join(names, " ")
	m := store.Manifest{
		Session: "h", WallUnixNs: 1_700_000_000_000_000_000, StartNs: ms, EndNs: 101 * ms, Metrics: []string{"wall", "cpu"},
		JVM: store.JVM{PID: 1, Host: all, Version: all, Name: all, Home: all, MainClass: all, GC: all, CPUs: 2, AgentVersion: all,
			Clock: all, CPUClock: all},
		NotAvailable: map[string]string{}, Produced: store.Counts{Executions: uint64(len(names) + 3)},
		Contexts: &store.ContextSampling{Every: 10, Taken: 20, Lost: 3, Unseen: 2},
		Lost:     store.Lost{ByReason: map[string]uint64{}, Reported: 3}, Ended: all, ExitNote: all, Detail: all,
	}
	p := &store.Part{Range: store.Range{From: 1, To: 1}}
	for i, name := range names {
		id := uint32(i + 1)
		m.NotAvailable[name], m.Lost.ByReason[name] = name, 1
		m.Refusals = append(m.Refusals, store.Refusal{Reason: name, Count: 1, Sample: name})
		m.Metrics, m.Notes = append(m.Metrics, name), append(m.Notes, name)
		p.Classes = append(p.Classes, store.Class{ID: id, Name: name, Kinds: "runnable"})
		p.Threads = append(p.Threads, store.Thread{ID: id, JavaID: int64(id), OSID: int32(100 + id), Name: name, Group: name, Class: name})
		p.OSThreads = append(p.OSThreads, store.OSThread{OSID: int32(500 + id), Name: name})
		start := ms + units.MonoNs(id)*ms
		p.Executions = append(p.Executions, store.Execution{TaskID: uint64(id), Class: id, Thread: id, StartNs: start, EndNs: start + us,
			WallNs: us, CPUNs: us, SelfWallNs: us, SelfCPUNs: us})
		p.Frames = append(p.Frames, store.Frame{ID: id, Class: name, Method: name, File: name, Line: -1})
		p.Contexts = append(p.Contexts, store.Context{ID: id, Kind: store.ContextExecution, Class: id, Cut: true, Frames: []uint32{id, 1 << 31, id}})
		p.ContextSums = append(p.ContextSums, store.ContextSum{ID: id, Count: 1 << 63, SelfWallNs: us, Measured: 1, SelfCPUNs: us})
		p.Creations = append(p.Creations, store.Creation{TaskID: uint64(id), Class: id, Thread: id, AtNs: start - us})
	}
	p.Classes[0].Kinds = all
	p.Contexts[0].Kind = all
	w.Manifest = m
	if err := w.Commit(p); err != nil {
		return "", fmt.Errorf("writing a session of hostile names: %w", err)
	}
	return w.Dir(), nil
}

// Submit gives the session that Hostile wrote in root call sites, executors and submissions with hostile names.
func Submit(root string, names []string) error {
	w, err := store.OpenWriter(root, "h", "h")
	if err != nil {
		return err
	}
	p := &store.Part{Range: store.Range{From: 2, To: 2}}
	for i, name := range names {
		id := uint32(i + 1)
		p.Sites = append(p.Sites, store.Site{ID: id, Class: name, Method: name, File: name, Line: -1})
		p.Executors = append(p.Executors, store.Executor{ID: id, Class: name, Name: name})
		at, task := 2*ms+units.MonoNs(id)*ms, uint64(1000+id)
		p.Submissions = append(p.Submissions, store.Submission{TaskID: task, Class: id, Thread: id, Executor: id, Site: id, AtNs: at})
		p.Creations = append(p.Creations, store.Creation{TaskID: task, Class: id, Thread: id, AtNs: at - us, Site: id})
		p.Executions = append(p.Executions, store.Execution{TaskID: task, Class: id, Thread: id, StartNs: at + us, EndNs: at + 2*us, SubmittedNs: at, Site: id,
			WallNs: us, CPUNs: us, SelfWallNs: us, SelfCPUNs: us})
		p.Blockers = append(p.Blockers, store.Blocker{ID: id, Class: name, Lock: name})
		p.InsideMonitors = append(p.InsideMonitors, store.InsideMonitor{ID: id, Name: name, Layer: name, Unit: name, Source: name, Why: name})
		p.InsideSamples = append(p.InsideSamples, store.InsideSample{Monitor: id, AtNs: int64(at), Value: float64(id)})
		p.Waits = append(p.Waits, store.Wait{Kind: "park", Thread: id, Blocker: id, StartNs: int64(at + us), EndNs: int64(at + 2*us), Waker: id, Holder: id, Within: id, Site: id},
			store.Wait{Kind: name, Thread: id, Blocker: id, StartNs: int64(at + 3*us), EndNs: int64(at + 4*us)})
	}
	p.Pauses = []store.Pause{{StartNs: int64(3 * ms), EndNs: int64(4 * ms)}}
	w.Manifest.Submissions = &store.RecordAccount{Produced: uint64(len(names))}
	return w.Commit(p)
}

// Schedule gives the session in dir a scheduling record whose threads, collectors and causes have these names.
func Schedule(dir string, names []string) error {
	why := map[string]string{}
	for _, name := range names {
		why[name] = name
	}
	w, err := sched.Create(filepath.Join(dir, sched.Folder), sched.Record{Source: "perf", PID: 1, NotAvailable: why})
	if err != nil {
		return err
	}
	p := sched.Part{From: ms, To: 101 * ms}
	for i, name := range names {
		p.Threads = append(p.Threads, sched.ThreadRow{Index: uint32(i), Thread: sched.Thread{TID: int32(101 + i), Name: name, First: ms, Last: 101 * ms, CPU: 50 * units.Ns(ms)}})
		p.Slices = append(p.Slices, sched.Slice{Thread: uint32(i), State: sched.Running, From: ms, To: 51 * ms}, sched.Slice{Thread: uint32(i), State: sched.Futex, From: 51 * ms, To: 101 * ms})
		p.GC = append(p.GC, sched.GCSample{At: 3*ms + units.MonoNs(i), Collector: name, Cause: name, Invocations: int64(i + 1), Entry: units.Ns(2 * ms), Exit: units.Ns(3 * ms)})
	}
	return errors.Join(w.Write(&p), w.Close(why))
}
