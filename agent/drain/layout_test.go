package drain

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// layout is what the C compiler is asked, and what this package believes.
var layout = []struct {
	c    string
	want int64
}{
	{"SA_SLOT_BYTES", slotBytes},
	{"sizeof(sa_execution)", executionBytes},
	{"sizeof(sa_creation)", slotBytes},
	{"sizeof(sa_thread_switch)", slotBytes},
	{"sizeof(sa_pause)", slotBytes},
	{"sizeof(sa_construction)", slotBytes},
	{"SA_REC_CONSTRUCTION", recConstruction},
	{"offsetof(sa_construction, class_id)", offClass},
	{"offsetof(sa_construction, task_id)", offTask},
	{"offsetof(sa_construction, wall_ticks)", offWall},
	{"offsetof(sa_construction, cpu_ns)", offConstructionCPU},
	{"SA_REC_PAD", recPad},
	{"SA_REC_EXECUTION", recExecution},
	{"SA_REC_CREATION", recCreation},
	{"SA_REC_THREAD", recThreadSwitch},
	{"SA_REC_PAUSE", recPause},
	{"SA_EXEC_THREW", int64(wire.Threw)},
	{"SA_EXEC_RUNNING", int64(wire.Running)},
	{"SA_EXEC_CUT", int64(wire.Cut)},
	{"SA_EXEC_CREATION_UNSEEN", int64(wire.CreationUnseen)},
	{"SA_EXEC_VIRTUAL", int64(wire.Virtual)},
	{"SA_EXEC_FIRST", int64(wire.First)},
	{"SA_CREATE_FAILED", int64(wire.Failed)},
	{"SA_CREATE_WITHDRAWN", int64(wire.Withdrawn)},
	{"SA_CREATE_PART", int64(wire.Part)},
	{"SA_NOT_MEASURED", int64(units.NotMeasured)},
	{"offsetof(sa_execution, type)", offType},
	{"offsetof(sa_execution, flags)", offFlags},
	{"offsetof(sa_execution, depth)", offDepth},
	{"offsetof(sa_execution, class_id)", offClass},
	{"offsetof(sa_execution, task_id)", offTask},
	{"offsetof(sa_execution, outer_task_id)", offOuter},
	{"offsetof(sa_execution, start_ticks)", offStart},
	{"offsetof(sa_execution, end_ticks)", offEnd},
	{"offsetof(sa_execution, cpu_ns)", offCPU},
	{"offsetof(sa_execution, child_ticks)", offChildTicks},
	{"offsetof(sa_execution, child_cpu_ns)", offChildCPU},
	{"offsetof(sa_creation, type)", offType},
	{"offsetof(sa_creation, flags)", offFlags},
	{"offsetof(sa_creation, class_id)", offClass},
	{"offsetof(sa_creation, task_id)", offTask},
	{"offsetof(sa_creation, outer_task_id)", offOuter},
	{"offsetof(sa_creation, at_ticks)", offCreationAt},
	{"offsetof(sa_thread_switch, type)", offType},
	{"offsetof(sa_thread_switch, thread_id)", offThreadID},
	{"offsetof(sa_pause, type)", offType},
	{"offsetof(sa_pause, start_ticks)", offPauseStart},
	{"offsetof(sa_pause, end_ticks)", offPauseEnd},
	{"SA_REC_VIRTUAL", recVirtualThread},
	{"sizeof(sa_virtual)", virtualThreadBytes},
	{"SA_SUBMIT_REJECTED", int64(wire.Rejected)},
	{"SA_SUBMIT_CANCELLED", int64(wire.Cancelled)},
	{"SA_SUBMIT_SCHEDULED", int64(wire.Scheduled)},
	{"SA_SUBMIT_STARTED", int64(wire.Started)},
	{"SA_SUBMIT_FORKED", int64(wire.Forked)},
	{"SA_SUBMIT_INNER", int64(wire.Inner)},
	{"SA_SUBMIT_ASKED", int64(wire.Asked)},
	{"SA_SUBMIT_FORGOTTEN", int64(wire.Forgotten)},
	{"offsetof(sa_submission, executor)", offExecutor},
	{"offsetof(sa_submission, site)", offSite},
	{"offsetof(sa_creation, site)", offCreationSite},
	{"offsetof(sa_queue, submitted_ticks)", offQueued},
	{"SA_VIRTUAL_ALIVE", int64(wire.VirtualAlive)},
	{"offsetof(sa_virtual, flags)", offFlags},
	{"offsetof(sa_virtual, class_id)", offClass},
	{"offsetof(sa_virtual, mounts)", offVirtualMounts},
	{"offsetof(sa_virtual, changes)", offVirtualChanges},
	{"offsetof(sa_virtual, first)", offVirtualFirst},
	{"offsetof(sa_virtual, last)", offVirtualLast},
	{"offsetof(sa_virtual, pins)", offVirtualPins},
	{"offsetof(sa_virtual, pinned_ticks)", offVirtualPinned},
	{"offsetof(sa_virtual, away_ticks)", offVirtualAway},
	{"offsetof(sa_virtual, ready_ticks)", offVirtualReady},
	{"offsetof(sa_virtual, at_ticks)", offVirtualAt},
}

// compileC builds a C program that includes record.h and returns its output.
func compileC(t *testing.T, body string) []byte {
	t.Helper()
	header, err := filepath.Abs("../../jvmti/ring/record.h")
	if err != nil {
		t.Fatal(err)
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	text := fmt.Sprintf("#include <stddef.h>\n#include <stdio.h>\n#include <string.h>\n#include %q\nint main(void) {\n%s\nreturn 0; }\n", header, body)
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-std=c11", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("the C compiler %s is needed to hold the layouts against each other: %v\n%s", cc, err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLayoutEqualsHeader(t *testing.T) {
	var body, want strings.Builder
	for _, l := range layout {
		fmt.Fprintf(&body, "printf(\"%s %%lld\\n\", (long long)(%s));\n", l.c, l.c)
		fmt.Fprintf(&want, "%s %d\n", l.c, l.want)
	}
	if got := string(compileC(t, body.String())); got != want.String() {
		t.Errorf("record.h:\n%s\nthis package:\n%s", got, want.String())
	}
}

// Every field of records written by C arrives where it belongs.
func TestDecodeRecordsWrittenByC(t *testing.T) {
	slots := compileC(t, `
	sa_thread_switch w = {.type = SA_REC_THREAD, .thread_id = 0xa1a2a3a4};
	sa_execution e = {.type = SA_REC_EXECUTION, .flags = SA_EXEC_THREW | SA_EXEC_VIRTUAL, .depth = 0xb1b2,
		.class_id = 0xc1c2c3c4, .task_id = 0xd1d2d3d4d5d6d7d8, .outer_task_id = 0xe1e2e3e4e5e6e7e8,
		.start_ticks = 0x1112131415161718, .end_ticks = 0x2122232425262728, .cpu_ns = SA_NOT_MEASURED,
		.child_ticks = 0x3132333435363738, .child_cpu_ns = 0x4142434445464748};
	sa_creation c = {.type = SA_REC_CREATION, .flags = SA_CREATE_FAILED, .class_id = 7, .task_id = 8, .outer_task_id = 9, .at_ticks = 10};
	sa_pause p = {.type = SA_REC_PAUSE, .start_ticks = 11, .end_ticks = 12, .cause = 13};
	fwrite(&w, sizeof w, 1, stdout); fwrite(&e, sizeof e, 1, stdout);
	fwrite(&c, sizeof c, 1, stdout); fwrite(&p, sizeof p, 1, stdout);`)
	var d Decoder
	d.Decode(3, slots)
	want := wire.Execution{TaskID: 0xd1d2d3d4d5d6d7d8, OuterTaskID: 0xe1e2e3e4e5e6e7e8, Class: 0xc1c2c3c4, Thread: 0xa1a2a3a4,
		Depth: 0xb1b2, Flags: wire.Threw | wire.Virtual, Start: 0x1112131415161718, End: 0x2122232425262728,
		CPU: units.NotMeasured, ChildTicks: 0x3132333435363738, ChildCPU: 0x4142434445464748}
	if len(d.Executions) != 1 || d.Executions[0] != want {
		t.Errorf("executions %+v, want %+v", d.Executions, want)
	}
	if want := (wire.Creation{TaskID: 8, OuterTaskID: 9, Class: 7, Thread: 0xa1a2a3a4, Flags: wire.Failed, At: 10}); len(d.Creations) != 1 || d.Creations[0] != want {
		t.Errorf("creations %+v, want %+v", d.Creations, want)
	}
	if want := (wire.Pause{Start: 11, End: 12, Cause: 13}); len(d.Pauses) != 1 || d.Pauses[0] != want {
		t.Errorf("pauses %+v, want %+v", d.Pauses, want)
	}
	if d.Unknown != 0 {
		t.Errorf("unknown %d", d.Unknown)
	}
}

// A record of how a virtual thread was scheduled belongs to the thread that the ring names.
func TestDecodeVirtualWrittenByC(t *testing.T) {
	slots := compileC(t, `
	sa_thread_switch w = {.type = SA_REC_THREAD, .thread_id = 0xa1a2a3a4};
	sa_virtual v = {.type = SA_REC_VIRTUAL, .flags = SA_VIRTUAL_ALIVE, .class_id = 0xc1c2c3c4, .mounts = 0xd1d2d3d4, .changes = 0xe1e2e3e4,
		.first = 0xf1f2f3f4, .last = 0x11121314, .pins = 0x21222324, .pinned_ticks = 0x3132333435363738,
		.away_ticks = 0x4142434445464748, .ready_ticks = SA_NOT_MEASURED, .at_ticks = 0x5152535455565758};
	fwrite(&w, sizeof w, 1, stdout); fwrite(&v, sizeof v, 1, stdout);`)
	var d Decoder
	d.Decode(3, slots)
	want := wire.VirtualThread{Thread: 0xa1a2a3a4, Class: 0xc1c2c3c4, Flags: wire.VirtualAlive, Threads: 1, Mounts: 0xd1d2d3d4, Changes: 0xe1e2e3e4,
		First: 0xf1f2f3f4, Last: 0x11121314, Pins: 0x21222324, Pinned: 0x3132333435363738, Away: 0x4142434445464748,
		Ready: units.NotMeasured, At: 0x5152535455565758}
	if len(d.Virtual) != 1 || d.Virtual[0] != want || d.Unknown != 0 {
		t.Errorf("%+v, %d unknown, want %+v", d.Virtual, d.Unknown, want)
	}
	var cut Decoder
	cut.Decode(3, slots[:2*slotBytes])
	if len(cut.Virtual) != 0 || cut.Unknown != 1 {
		t.Errorf("half a record: %+v, %d unknown", cut.Virtual, cut.Unknown)
	}
}
