package drain

import (
	"encoding/binary"
	"testing"

	"stackagent/internal/wire"
)

// Where the fields of records lie, for ever.
const (
	offType            = 0
	offFlags           = 1
	offDepth           = 2
	offClass           = 4
	offTask            = 8
	offOuter           = 16
	offStart           = 24
	offEnd             = 32
	offCPU             = 40
	offChildTicks      = 48
	offChildCPU        = 56
	offCreationAt      = 24
	offThreadID        = 4
	offPauseStart      = 8
	offPauseEnd        = 16
	offWall            = 16
	offConstructionCPU = 24
	offCreationSite    = 2
	offExecutor        = 32
	offSite            = 36
	offQueued          = 16
	offVirtualMounts   = 8
	offVirtualChanges  = 12
	offVirtualFirst    = 16
	offVirtualLast     = 20
	offVirtualPins     = 24
	offVirtualPinned   = 32
	offVirtualAway     = 40
	offVirtualReady    = 48
	offVirtualAt       = 56
)

// slots writes records for tests.
type slots []byte

func (s slots) thread(id uint32) slots {
	r := make([]byte, slotBytes)
	r[offType] = recThreadSwitch
	binary.LittleEndian.PutUint32(r[offThreadID:], id)
	return append(s, r...)
}

func (s slots) execution(e wire.Execution) slots {
	r := make([]byte, executionBytes)
	r[offType], r[offFlags] = recExecution, byte(e.Flags)
	binary.LittleEndian.PutUint16(r[offDepth:], e.Depth)
	binary.LittleEndian.PutUint32(r[offClass:], e.Class)
	for off, v := range map[int]uint64{offTask: e.TaskID, offOuter: e.OuterTaskID, offStart: uint64(e.Start), offEnd: uint64(e.End),
		offCPU: uint64(e.CPU), offChildTicks: uint64(e.ChildTicks), offChildCPU: uint64(e.ChildCPU)} {
		binary.LittleEndian.PutUint64(r[off:], v)
	}
	return append(s, r...)
}

func (s slots) creation(task uint64) slots {
	r := make([]byte, slotBytes)
	r[offType] = recCreation
	binary.LittleEndian.PutUint64(r[offTask:], task)
	return append(s, r...)
}

func (s slots) pad() slots { return append(s, make([]byte, slotBytes)...) }

func (s slots) raw(kind byte) slots {
	r := make([]byte, slotBytes)
	r[0] = kind
	return append(s, r...)
}

// The thread of a ring is remembered from chunk to chunk, ring by ring.
func TestDecodeThreads(t *testing.T) {
	var d Decoder
	one := wire.Execution{TaskID: 1, Start: 5, End: 6}
	d.Decode(1, slots{}.thread(10).execution(one))
	d.Decode(2, slots{}.execution(one).thread(20).pad().execution(one))
	d.Decode(1, slots{}.execution(one).thread(11).execution(one).creation(9))
	var got []uint32
	for _, e := range d.Executions {
		got = append(got, e.Thread)
	}
	want := []uint32{10, 0, 20, 10, 11}
	if len(got) != len(want) {
		t.Fatalf("threads %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("threads %v, want %v", got, want)
		}
	}
	if len(d.Creations) != 1 || d.Creations[0].Thread != 11 || d.Unknown != 0 {
		t.Errorf("creations %+v, unknown %d", d.Creations, d.Unknown)
	}
}

func TestDecodeCountsWhatItDoesNotKnow(t *testing.T) {
	e := slots{}.execution(wire.Execution{TaskID: 1})
	for name, c := range map[string]struct {
		in      []byte
		unknown uint64
		events  int
	}{
		"empty":          {nil, 0, 0},
		"type":           {append(slots{}.raw(99), e...), 1, 1},
		"half execution": {e[:slotBytes], 1, 0},
		"half slot":      {append(e[:executionBytes:executionBytes], 1, 2, 3), 1, 1},
	} {
		var d Decoder
		d.Decode(1, c.in)
		if d.Unknown != c.unknown || len(d.Executions) != c.events {
			t.Errorf("%s: unknown %d, executions %d", name, d.Unknown, len(d.Executions))
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	var in slots
	in = in.thread(1)
	for i := range uint64(1000) {
		in = in.execution(wire.Execution{TaskID: i, Start: 1, End: 2})
	}
	var d Decoder
	for b.Loop() {
		d.Executions = d.Executions[:0]
		d.Decode(1, in)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/event")
}
