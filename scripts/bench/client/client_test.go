package client

import (
	"testing"
	"time"

	"stackagent/internal/wire"
)

// What a simulated JVM sends can be read, has consecutive numbers, and its sums are right.
func TestBatch(t *testing.T) {
	start := now()
	j := jvm{Load{Every: time.Second}, nil, "s", 500}
	for seq := uint64(1); seq <= 3; seq++ {
		data, err := wire.Encode(j.batch(seq, start), nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := wire.Decode(data, wire.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if b.Seq != seq || (b.Hello != nil) != (seq == 1) || len(b.Executions) != 500 || len(b.Creations) != 500 || b.Totals.Executions != 500*seq {
			t.Errorf("batch %d: %d executions of %d", b.Seq, len(b.Executions), b.Totals.Executions)
		}
		for _, x := range b.Executions {
			if x.End <= x.Start || x.TaskID <= 500*(seq-1) || x.TaskID > 500*seq {
				t.Fatalf("batch %d: %+v", seq, x)
			}
		}
	}
}
