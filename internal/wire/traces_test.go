package wire

import (
	"math"
	"testing"
)

func TestTaskTracesRoundTrip(t *testing.T) {
	b := empty()
	b.TaskTraces = []TaskTrace{
		{TaskID: 1, Thread: 2, At: 3, TraceHigh: 0x0af7651916cd43dd, TraceLow: 0x8448eb211c80319c, Span: 0xb7ad6b7169203331},
		{TaskID: math.MaxUint64, Thread: math.MaxUint32, Kind: TraceExecution, At: math.MaxUint64, TraceLow: 1, Span: math.MaxUint64},
		{},
	}
	b.Totals.TracingSeen = true
	roundTrip(t, b)
	b.Totals.TaskTraces, b.Totals.LostTaskTraces = 5, 2
	roundTrip(t, b)
}
