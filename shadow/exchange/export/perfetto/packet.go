// Package perfetto writes a session as a trace of Perfetto: a protobuf of small packets, written as they are made.
//
// The messages are those of protos/perfetto/trace in Perfetto's sources; the numbers of fields below are theirs.
package perfetto

import (
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Numbers of fields, by message.
const (
	tracePacket = 1

	packetClockSnapshot = 6
	packetTimestamp     = 8
	packetSequence      = 10
	packetEvent         = 11
	packetInterned      = 12
	packetFlags         = 13
	packetDefaults      = 59
	packetTrack         = 60
	defaultsClock       = 58

	internedCategories, internedNames, internedAnnotations, internedStrings = 1, 2, 3, 29

	eventCategories     = 3
	eventAnnotations    = 4
	eventType           = 9
	eventName           = 10
	eventTrack          = 11
	eventText           = 23
	eventDoubleCounter  = 44
	eventFlows          = 47
	eventFlowsTerminate = 48

	annotationName, annotationUint, annotationInt, annotationText, annotationString, annotationDouble = 1, 3, 4, 6, 17, 5
)

const (
	clockRealtime, clockMonotonic = 1, 3

	stateCleared, stateNeeded = 1, 2 // of packetFlags

	sliceBegin, sliceEnd, instant, counter = 1, 2, 3, 4 // of eventType
)

// The message being built is the end of a slice; each of these appends to one.

func number(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func fixed(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

func str(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

// maxText bounds names that come from the program.
const maxText = 1024

// clean makes a name of the program valid and harmless.
func clean(s string) string {
	s = text.Clean(s[:min(len(s), 4*maxText)], '?')
	if s = text.Cut(s, maxText); s == "" {
		return "(no name)"
	}
	return s
}

// interned gives texts numbers. A text is written once, with the packet that first uses it.
type interned struct {
	field   protowire.Number
	numbers map[string]uint64
}

// writer writes packets of one sequence.
type writer struct {
	to      io.Writer
	packet  []byte // of the packet
	event   []byte // of the track event in it
	scratch []byte
	fresh   []byte // interned texts that no packet has carried yet

	names, categories, annotations, strings interned
	begun                                   bool
}

func newWriter(to io.Writer) *writer {
	w := &writer{to: to}
	for _, x := range []struct {
		of    *interned
		field protowire.Number
	}{{&w.categories, internedCategories}, {&w.names, internedNames}, {&w.annotations, internedAnnotations}, {&w.strings, internedStrings}} {
		*x.of = interned{x.field, map[string]uint64{}}
	}
	return w
}

// id is the number of a text.
func (w *writer) id(in *interned, s string) uint64 {
	n, ok := in.numbers[s]
	if !ok {
		n = uint64(len(in.numbers) + 1)
		in.numbers[s] = n
		w.fresh = message(w.fresh, in.field, str(number(nil, 1, n), 2, clean(s)))
	}
	return n
}

// flush writes the packet that was built, as an element of the trace.
func (w *writer) flush() error {
	w.scratch = protowire.AppendTag(w.scratch[:0], tracePacket, protowire.BytesType)
	w.scratch = protowire.AppendVarint(w.scratch, uint64(len(w.packet)))
	w.scratch = append(w.scratch, w.packet...)
	w.packet = w.packet[:0]
	if _, err := w.to.Write(w.scratch); err != nil {
		return fmt.Errorf("writing the trace: %w", err)
	}
	return nil
}

// begin starts a packet of the sequence.
func (w *writer) begin() {
	w.packet = number(w.packet[:0], packetSequence, 1)
	flags := uint64(stateNeeded)
	if !w.begun {
		w.begun = true
		flags |= stateCleared
		w.packet = message(w.packet, packetDefaults, number(nil, defaultsClock, clockMonotonic))
	}
	w.packet = number(w.packet, packetFlags, flags)
}

// clock says what the times of the trace are: CLOCK_MONOTONIC, and what the wall clock was at one of them.
func (w *writer) clock(mono units.MonoNs, wallUnixNs int64) error {
	reading := func(b []byte, clock uint64, at uint64) []byte {
		return message(b, 1, number(number(nil, 1, clock), 2, at))
	}
	m := reading(nil, clockMonotonic, uint64(max(0, mono)))
	if wallUnixNs > 0 {
		m = reading(m, clockRealtime, uint64(wallUnixNs))
	}
	w.packet = message(w.packet[:0], packetClockSnapshot, number(m, 2, clockMonotonic))
	return w.flush()
}

// track writes a track descriptor.
func (w *writer) track(descriptor []byte) error {
	w.begin()
	w.packet = message(w.packet, packetTrack, descriptor)
	return w.flush()
}

// start begins an event.
func (w *writer) start(kind, track uint64) {
	w.event = number(number(w.event[:0], eventType, kind), eventTrack, track)
}

func (w *writer) name(s string) { w.event = number(w.event, eventName, w.id(&w.names, s)) }
func (w *writer) category(s string) {
	w.event = number(w.event, eventCategories, w.id(&w.categories, s))
}

// text is a name that occurs once.
func (w *writer) text(s string) { w.event = str(w.event, eventText, clean(s)) }

// annotate begins an annotation.
func (w *writer) annotate(name string) []byte {
	return number(w.scratch[:0], annotationName, w.id(&w.annotations, name))
}

func (w *writer) argUint(name string, v uint64) {
	w.scratch = number(w.annotate(name), annotationUint, v)
	w.event = message(w.event, eventAnnotations, w.scratch)
}

// argNs adds a measured value; one that was not measured has no annotation.
func (w *writer) argNs(name string, v units.Ns) {
	if v.Measured() {
		w.scratch = number(w.annotate(name), annotationInt, uint64(v))
		w.event = message(w.event, eventAnnotations, w.scratch)
	}
}

// argString adds a text that occurs often.
func (w *writer) argString(name, v string) {
	if v != "" {
		w.scratch = number(w.annotate(name), annotationString, w.id(&w.strings, v))
		w.event = message(w.event, eventAnnotations, w.scratch)
	}
}

// argText adds a text that occurs once or a few times.
func (w *writer) argText(name, v string) {
	w.scratch = str(w.annotate(name), annotationText, clean(v))
	w.event = message(w.event, eventAnnotations, w.scratch)
}

// maxIDs bounds the texts that are held in memory for argID.
const maxIDs = 1 << 16

// argID adds a text of which there can be as many as slices, or one for all of them.
func (w *writer) argID(name, v string) {
	if _, known := w.strings.numbers[v]; known || len(w.strings.numbers) < maxIDs {
		w.argString(name, v)
		return
	}
	w.argText(name, v)
}

func (w *writer) flow(field protowire.Number, id uint64) { w.event = fixed(w.event, field, id) }

func (w *writer) value(v float64) { w.event = fixed(w.event, eventDoubleCounter, math.Float64bits(v)) }

// end writes the event at its time.
func (w *writer) end(at units.MonoNs) error {
	w.begin()
	w.packet = number(w.packet, packetTimestamp, uint64(max(0, at)))
	if len(w.fresh) > 0 {
		w.packet = message(w.packet, packetInterned, w.fresh)
		w.fresh = w.fresh[:0]
	}
	w.packet = message(w.packet, packetEvent, w.event)
	return w.flush()
}
