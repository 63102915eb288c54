package wire

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/vmihailenco/msgpack/v5"
)

// Keys of the envelope beside those of records. They are for ever.
const (
	keyVersion  = "v"
	keySession  = "s"
	keySeq      = "q"
	keyClock    = "c"
	keyHello    = "h"
	keyRefusals = "r"
	keyTotals   = "n"
	keyLast     = "z"
	keyExitNote = "x"
	keyProcess  = "i"
	keyAccount  = "w"
	keyRunning  = "R"
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
	err := cmp.Or(b.checkLists(), tooMany(len(b.Refusals), MaxItems, "refusals"),
		tooMany(max(len(b.Totals.Lost), len(b.Totals.LostByThread)), MaxItems, "losses"))
	if err != nil {
		return err
	}
	if err := b.checkWork(); err != nil {
		return err
	}
	if err := b.Contexts.check(); err != nil {
		return err
	}
	if err := b.Running.check(); err != nil {
		return err
	}
	if err := checkVirtual(b.Virtual); err != nil {
		return err
	}
	return checkSummaries(b.Summaries)
}

// tooMany is an error if a list of n entries is longer than it may be.
func tooMany(n, most int, what string) error {
	if n > most {
		return fmt.Errorf("%d %s: %w", n, what, ErrTooMany)
	}
	return nil
}

// field is a key of the envelope, if it is in use, and what writes its value.
type field struct {
	key   string
	use   bool
	write func()
}

// writeEnvelope writes the keys in use, always in the same order.
func (e *Encoder) writeEnvelope(w *writer, b *Batch) {
	fields := append(e.lists(w, b),
		field{keyVersion, true, func() { w.uint(Version) }},
		field{keySession, true, func() { w.str(b.Session) }},
		field{keyProcess, b.Process != "", func() { w.str(b.Process) }},
		field{keySeq, true, func() { w.uint(b.Seq) }},
		field{keyClock, true, func() { w.clockPair(&b.Clock) }},
		field{keyHello, b.Hello != nil, func() { w.hello(b.Hello) }},
		field{keyRefusals, len(b.Refusals) > 0, func() { each(w, b.Refusals, (*writer).refusal) }},
		field{keyTotals, true, func() { w.totals(&b.Totals) }},
		field{keyLast, b.Last, func() { w.bool(true) }},
		field{keyExitNote, b.ExitNote != "", func() { w.str(b.ExitNote) }},
		field{keyAccount, b.Contexts.Account != ContextSampling{}, func() { w.account(&b.Contexts.Account) }},
		field{keyRunning, b.Running != nil, func() { w.running(b.Running) }},
	)
	slices.SortFunc(fields, func(x, y field) int { return strings.Index(keyOrder, x.key) - strings.Index(keyOrder, y.key) })
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

func (w *writer) text(s *string) { w.str(*s) }

// texts writes a map in the order of its keys.
func (w *writer) texts(m map[string]string) {
	w.mapLen(len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		w.str(k)
		w.str(m[k])
	}
}
