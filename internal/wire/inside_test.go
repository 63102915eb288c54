package wire

import (
	"math"
	"testing"
)

func TestInsideRoundTrip(t *testing.T) {
	b := empty()
	b.InsideMonitors = []InsideMonitor{
		{ID: 1, Name: "app.calls{method=\"a.B.c\"}", Layer: "application", Unit: "ns", Counter: true, Source: "calls:a.B#c"},
		{ID: math.MaxUint32, Name: "app.field.a.B.d", Source: "a.B#d", Why: "the class has no such field"},
		{},
	}
	b.InsideSamples = []InsideSample{{}, {Monitor: 1, At: 1 << 60, Bits: math.Float64bits(-0.1)}, {Monitor: math.MaxUint32, At: math.MaxUint64, Bits: math.Float64bits(math.NaN())}}
	roundTrip(t, b)
}
