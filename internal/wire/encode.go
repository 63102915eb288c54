package wire

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/vmihailenco/msgpack/v5"
)

// Keys of the envelope and of Hello. They are for ever.
const (
	keyVersion    = "v"
	keySession    = "s"
	keySeq        = "q"
	keyClock      = "c"
	keyHello      = "h"
	keyClasses    = "k"
	keyThreads    = "t"
	keyOS         = "o"
	keyPauses     = "p"
	keyRefusals   = "r"
	keyTotals     = "n"
	keyLast       = "z"
	keyExitNote   = "x"
	keyExecutions = "e"
	keyCreations  = "a"
	keyProcess    = "i"
	keySummaries  = "u"

	keyConstructions = "b"
	keySubmissions   = "d"
	keyExecutors     = "f"
	keySites         = "g"
	keySiteSums      = "G"

	keyFrames      = "j"
	keyContexts    = "l"
	keyContextSums = "m"
	keyAccount     = "w"

	keyVirtual = "V"

	keyWaits    = "W"
	keyWaitSums = "S"
	keyBlockers = "B"

	keyInsideMonitors = "M"
	keyInsideSamples  = "N"

	keyRunning = "R"

	keyTaskTraces = "T"
)

// ErrTooMany means that a batch holds more entries than one message may: it
// has to be split.
var ErrTooMany = errors.New("batch holds more than one message may")

type sliceWriter struct{ b []byte }

func (w *sliceWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

func (w *sliceWriter) WriteByte(c byte) error {
	w.b = append(w.b, c)
	return nil
}

var encoders = sync.Pool{New: func() any { return new(Encoder) }}

// Encode appends b as one message to buf. See docs/internals/format-wire.md.
func Encode(b *Batch, buf []byte) ([]byte, error) {
	e := encoders.Get().(*Encoder)
	defer encoders.Put(e)
	return e.Encode(b, buf)
}

// Encode appends b as one message to buf. It fails when the session's name is
// not valid or b holds more than DefaultLimits let a reader accept; the size
// in bytes is the caller's to check.
func (e *Encoder) Encode(b *Batch, buf []byte) ([]byte, error) {
	if err := checkBatch(b); err != nil {
		return buf, fmt.Errorf("encode batch %d of session %q: %w", b.Seq, b.Session, err)
	}
	e.out.b = buf
	if e.mp == nil {
		e.mp = msgpack.NewEncoder(&e.out)
	}
	w := writer{mp: e.mp}
	e.writeEnvelope(&w, b)
	out := e.out.b
	e.out.b = nil // do not keep the caller's memory
	if w.err != nil {
		return buf, fmt.Errorf("encode batch %d of session %q: %w", b.Seq, b.Session, w.err)
	}
	return out, nil
}

func checkBatch(b *Batch) error {
	if err := ValidSession(b.Session); err != nil {
		return err
	}
	if err := ValidProcess(b.Process); err != nil {
		return err
	}
	if b.Seq == 0 {
		return errors.New("sequence numbers begin at 1")
	}
	if len(b.Executions) > MaxEvents || len(b.Creations) > MaxEvents {
		return fmt.Errorf("%d executions, %d creations: %w", len(b.Executions), len(b.Creations), ErrTooMany)
	}
	if len(b.Submissions) > MaxEvents || len(b.Constructions) > MaxEvents {
		return fmt.Errorf("%d submissions, %d constructions: %w", len(b.Submissions), len(b.Constructions), ErrTooMany)
	}
	if len(b.Waits) > MaxEvents {
		return fmt.Errorf("%d waits: %w", len(b.Waits), ErrTooMany)
	}
	if len(b.TaskTraces) > MaxEvents {
		return fmt.Errorf("%d task traces: %w", len(b.TaskTraces), ErrTooMany)
	}
	if err := b.checkWork(); err != nil {
		return err
	}
	if err := b.Contexts.check(); err != nil {
		return err
	}
	for _, n := range []int{b.Contexts.longest(), len(b.Executors), len(b.Sites), len(b.SiteSums), len(b.WaitSums), len(b.Blockers), len(b.InsideMonitors), len(b.InsideSamples), len(b.Classes), len(b.Threads), len(b.OS), len(b.Pauses), len(b.Refusals), len(b.Totals.Lost), len(b.Totals.LostByThread)} {
		if n > MaxItems {
			return fmt.Errorf("a list of %d entries: %w", n, ErrTooMany)
		}
	}
	if err := b.Running.check(); err != nil {
		return err
	}
	if err := checkVirtual(b.Virtual); err != nil {
		return err
	}
	return checkSummaries(b.Summaries)
}

// writeEnvelope writes the keys in use, always in the same order.
func (e *Encoder) writeEnvelope(w *writer, b *Batch) {
	fields := []struct {
		key   string
		use   bool
		write func()
	}{
		{keyVersion, true, func() { w.uint(Version) }},
		{keySession, true, func() { w.str(b.Session) }},
		{keyProcess, b.Process != "", func() { w.str(b.Process) }},
		{keySeq, true, func() { w.uint(b.Seq) }},
		{keyClock, true, func() { w.clock(b.Clock) }},
		{keyHello, b.Hello != nil, func() { w.hello(b.Hello) }},
		{keyClasses, len(b.Classes) > 0, func() { each(w, b.Classes, (*writer).class) }},
		{keyThreads, len(b.Threads) > 0, func() { each(w, b.Threads, (*writer).thread) }},
		{keyOS, len(b.OS) > 0, func() { each(w, b.OS, (*writer).osThread) }},
		{keyPauses, len(b.Pauses) > 0, func() { each(w, b.Pauses, (*writer).pause) }},
		{keyRefusals, len(b.Refusals) > 0, func() { each(w, b.Refusals, (*writer).refusal) }},
		{keyTotals, true, func() { w.totals(&b.Totals) }},
		{keyLast, b.Last, func() { w.bool(true) }},
		{keyExitNote, b.ExitNote != "", func() { w.str(b.ExitNote) }},
		{keyExecutions, len(b.Executions) > 0, func() {
			e.payload = appendPayload(e, e.payload[:0], b.Executions, b.ExecutionWork, &executionsPayload)
			w.bin(e.payload)
		}},
		{keyCreations, len(b.Creations) > 0, func() {
			e.payload = appendPayload(e, e.payload[:0], b.Creations, Work{}, &creationsPayload)
			w.bin(e.payload)
		}},
		{keyExecutors, len(b.Executors) > 0, func() { each(w, b.Executors, (*writer).executor) }},
		{keySites, len(b.Sites) > 0, func() { each(w, b.Sites, (*writer).site) }},
		{keySiteSums, len(b.SiteSums) > 0, func() { each(w, b.SiteSums, (*writer).siteSum) }},
		{keyFrames, len(b.Contexts.Frames) > 0, func() { each(w, b.Contexts.Frames, (*writer).frame) }},
		{keyContexts, len(b.Contexts.Contexts) > 0, func() { each(w, b.Contexts.Contexts, (*writer).context) }},
		{keyContextSums, len(b.Contexts.Sums) > 0, func() { each(w, b.Contexts.Sums, (*writer).contextSum) }},
		{keyAccount, b.Contexts.Account != ContextSampling{}, func() { w.account(&b.Contexts.Account) }},
		{keyConstructions, len(b.Constructions) > 0, func() {
			e.payload = appendPayload(e, e.payload[:0], b.Constructions, b.ConstructionWork, &constructionsPayload)
			w.bin(e.payload)
		}},
		{keySubmissions, len(b.Submissions) > 0, func() {
			e.payload = appendPayload(e, e.payload[:0], b.Submissions, Work{}, &submissionsPayload)
			w.bin(e.payload)
		}},
		{keySummaries, len(b.Summaries) > 0, func() {
			e.payload = appendSummaries(e.payload[:0], b.Summaries)
			w.bin(e.payload)
		}},
		{keyVirtual, len(b.Virtual) > 0, func() {
			e.payload = appendVirtual(e.payload[:0], b.Virtual)
			w.bin(e.payload)
		}},
		{keyBlockers, len(b.Blockers) > 0, func() { each(w, b.Blockers, (*writer).blocker) }},
		{keyWaitSums, len(b.WaitSums) > 0, func() { each(w, b.WaitSums, (*writer).waitSum) }},
		{keyInsideMonitors, len(b.InsideMonitors) > 0, func() { each(w, b.InsideMonitors, (*writer).insideMonitor) }},
		{keyInsideSamples, len(b.InsideSamples) > 0, func() { each(w, b.InsideSamples, (*writer).insideSample) }},
		{keyRunning, b.Running != nil, func() { w.running(b.Running) }},
		{keyWaits, len(b.Waits) > 0, func() {
			e.payload = appendPayload(e, e.payload[:0], b.Waits, Work{}, &waitsPayload)
			w.bin(e.payload)
		}},
		{keyTaskTraces, len(b.TaskTraces) > 0, func() {
			e.payload = appendPayload(e, e.payload[:0], b.TaskTraces, Work{}, &taskTracesPayload)
			w.bin(e.payload)
		}},
	}
	n := 0
	for _, f := range fields {
		if f.use {
			n++
		}
	}
	w.mapLen(n)
	for _, f := range fields {
		if f.use {
			w.str(f.key)
			f.write()
		}
	}
}

// writer writes msgpack values and keeps the first error.
type writer struct {
	mp  *msgpack.Encoder
	err error
}

func (w *writer) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) uint(v uint64)  { w.keep(w.mp.EncodeUint(v)) }
func (w *writer) int(v int64)    { w.keep(w.mp.EncodeInt(v)) }
func (w *writer) bool(v bool)    { w.keep(w.mp.EncodeBool(v)) }
func (w *writer) str(s string)   { w.keep(w.mp.EncodeString(cut(s))) }
func (w *writer) bin(b []byte)   { w.keep(w.mp.EncodeBytes(b)) }
func (w *writer) mapLen(n int)   { w.keep(w.mp.EncodeMapLen(n)) }
func (w *writer) arrayLen(n int) { w.keep(w.mp.EncodeArrayLen(n)) }

func each[T any](w *writer, list []T, write func(*writer, *T)) {
	w.arrayLen(len(list))
	for i := range list {
		write(w, &list[i])
	}
}

func (w *writer) clock(c ClockPair) {
	w.arrayLen(2)
	w.uint(uint64(c.Ticks))
	w.int(int64(c.Mono))
}

func (w *writer) refusal(r *Refusal) {
	w.arrayLen(3)
	w.str(r.Reason)
	w.uint(r.Count)
	w.str(r.Sample)
}

func (w *writer) loss(l *Loss) {
	w.arrayLen(2)
	w.str(l.Reason)
	w.uint(l.Events)
}

func (w *writer) threadLoss(l *ThreadLoss) {
	w.arrayLen(2)
	w.uint(uint64(l.Thread))
	w.uint(l.Events)
}

func (w *writer) text(s *string) { w.str(*s) }

// texts writes a map in the order of its keys.
func (w *writer) texts(m map[string]string) {
	w.mapLen(len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		w.str(k)
		w.str(m[k])
	}
}
