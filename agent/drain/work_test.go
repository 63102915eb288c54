package drain

import (
	"encoding/binary"
	"slices"
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// work appends extra metrics to the record before, in whole slots.
func (s slots) work(values ...int64) slots {
	for _, v := range values {
		s = binary.LittleEndian.AppendUint64(s, uint64(v))
	}
	return append(s, make([]byte, (slotBytes-len(s)%slotBytes)%slotBytes)...)
}

func (s slots) construction(c wire.Construction, values ...int64) slots {
	r := make([]byte, slotBytes)
	r[offType] = recConstruction
	binary.LittleEndian.PutUint32(r[offClass:], c.Class)
	binary.LittleEndian.PutUint64(r[offTask:], c.TaskID)
	binary.LittleEndian.PutUint64(r[offWall:], uint64(c.Wall))
	binary.LittleEndian.PutUint64(r[offConstructionCPU:], uint64(c.CPU))
	return append(s, r...).work(values...)
}

func newDecoder(extras int) *Decoder {
	return &Decoder{Extras: extras, ExecutionWork: newWork(extras), ConstructionWork: wire.Work{Total: newWork(extras).Total}}
}

// Records of every number of extra metrics, one behind the other.
func TestDecodeWork(t *testing.T) {
	for extras := 1; extras <= wire.MaxExtra; extras++ {
		d := newDecoder(extras)
		one, two := make([]int64, 2*extras), make([]int64, 2*extras)
		for i := range one {
			one[i], two[i] = int64(i+1)<<40, -int64(i)
		}
		two[0] = int64(units.NotMeasured)
		s := slots{}.thread(7).execution(wire.Execution{TaskID: 1, Class: 2}).work(one...).
			construction(wire.Construction{TaskID: 5, Class: 3, Wall: 11, CPU: units.NotMeasured}, one[:extras]...).
			execution(wire.Execution{TaskID: 9}).work(two...).creation(12)
		d.Decode(1, s)
		if d.Unknown != 0 || len(d.Executions) != 2 || len(d.Constructions) != 1 || len(d.Creations) != 1 {
			t.Fatalf("%d metrics: %+v", extras, d)
		}
		if c := d.Constructions[0]; c != (wire.Construction{TaskID: 5, Class: 3, Thread: 7, Wall: 11, CPU: units.NotMeasured}) {
			t.Errorf("construction %+v", c)
		}
		for k := range extras {
			if got, want := d.ExecutionWork.Total[k], []int64{one[k], two[k]}; !slices.Equal(got, want) {
				t.Errorf("%d metrics, total %d: %v, want %v", extras, k, got, want)
			}
			if got, want := d.ExecutionWork.Nested[k], []int64{one[extras+k], two[extras+k]}; !slices.Equal(got, want) {
				t.Errorf("%d metrics, nested %d: %v, want %v", extras, k, got, want)
			}
			if got := d.ConstructionWork.Total[k]; !slices.Equal(got, one[k:k+1]) {
				t.Errorf("construction's metric %d: %v", k, got)
			}
		}
	}
}

// A record that the end of a chunk cuts is counted, and gives no half of itself.
func TestDecodeWorkCut(t *testing.T) {
	whole := slots{}.execution(wire.Execution{TaskID: 1}).work(1, 2, 3, 4, 5, 6)
	for at := slotBytes; at < len(whole); at += slotBytes {
		d := newDecoder(3)
		d.Decode(1, whole[:at])
		if d.Unknown != 1 || len(d.Executions) != 0 || len(d.ExecutionWork.Total[0]) != 0 {
			t.Errorf("cut at %d: %+v", at, d)
		}
	}
}

// Recorded and dropped executions take their metrics along.
func TestPendingWork(t *testing.T) {
	p := pending{Decoder: *newDecoder(2)}
	s := slots{}.thread(7)
	for i := range int64(5) {
		s = s.execution(wire.Execution{TaskID: uint64(i)}).work(i, 10+i, 20+i, 30+i)
		s = s.construction(wire.Construction{TaskID: uint64(i)}, 40+i, 50+i)
	}
	p.Decode(1, s)
	var b wire.Batch
	p.fill(&b, share{events: 3, items: 1})
	if len(b.Executions) != 3 || !slices.Equal(b.ExecutionWork.Nested[1], []int64{30, 31, 32}) || len(b.Constructions) != 0 {
		t.Fatalf("first batch %+v", b)
	}
	p.taken(&b)
	b = wire.Batch{}
	p.fill(&b, share{events: 4, items: 1})
	if !slices.Equal(b.ExecutionWork.Total[0], []int64{3, 4}) || !slices.Equal(b.ConstructionWork.Total[1], []int64{50, 51}) ||
		len(b.ConstructionWork.Nested) != 0 {
		t.Fatalf("second batch %+v", b)
	}
	p.taken(&b)
	if p.drop(); p.lost.LostConstructions != 3 || p.any() || len(p.ExecutionWork.Total[0]) != 0 || len(p.ConstructionWork.Total[0]) != 0 {
		t.Errorf("dropped: %d constructions, left %+v", p.lost.LostConstructions, p)
	}
}
