package store

import (
	"encoding/hex"
	"fmt"
)

// TraceID is the id of a trace, as W3C Trace Context has it.
type TraceID [16]byte

// SpanID is the id of a span.
type SpanID [8]byte

// String is the id in hexadecimal.
func (t TraceID) String() string { return hex.EncodeToString(t[:]) }

// String is the id in hexadecimal.
func (s SpanID) String() string { return hex.EncodeToString(s[:]) }

// ParseTraceID reads 32 hexadecimal digits, not all of them 0.
func ParseTraceID(text string) (id TraceID, err error) {
	if n, err := hex.Decode(id[:], []byte(text[:min(len(text), 2*len(id))])); err != nil || n != len(id) || len(text) != 2*len(id) || id == (TraceID{}) {
		return TraceID{}, fmt.Errorf("trace id %.40q: want 32 hexadecimal digits", text)
	}
	return id, nil
}

// ParseSpanID reads 16 hexadecimal digits.
func ParseSpanID(text string) (id SpanID, err error) {
	if n, err := hex.Decode(id[:], []byte(text[:min(len(text), 2*len(id))])); err != nil || n != len(id) || len(text) != 2*len(id) {
		return SpanID{}, fmt.Errorf("span id %.40q: want 16 hexadecimal digits", text)
	}
	return id, nil
}
