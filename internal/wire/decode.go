package wire

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/vmihailenco/msgpack/v5"

	"stackagent/internal/units"
)

// Decode reads one message. Every error is a *DecodeError. It never allocates
// more than the limits allow, whatever lengths data claims, and does not keep
// data.
func Decode(data []byte, lim Limits) (*Batch, error) {
	if len(data) > lim.Bytes {
		return nil, &DecodeError{Field: "message", Problem: fmt.Sprintf("%d bytes, the limit is %d", len(data), lim.Bytes)}
	}
	src := bytes.NewReader(data)
	r := &reader{lim: lim, src: src, size: len(data), mp: msgpack.NewDecoder(src), batch: new(Batch)}
	r.envelope()
	if r.err == nil && src.Len() > 0 {
		r.fail("message", "bytes left over after the envelope", nil)
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.batch, nil
}

// reader reads msgpack values with limits and keeps the first error; after
// it, every read gives a zero value.
type reader struct {
	lim   Limits
	src   *bytes.Reader
	size  int
	mp    *msgpack.Decoder
	batch *Batch
	err   *DecodeError
}

func (r *reader) fail(field, problem string, cause error) {
	if r.err == nil {
		r.err = &DecodeError{Offset: r.offset(), Field: field, Problem: problem, Cause: cause}
	}
}

func (r *reader) offset() int { return r.size - r.src.Len() }

// envelope reads the map of the message; keys may come in any order, each once.
func (r *reader) envelope() {
	n, err := r.mp.DecodeMapLen()
	if err != nil || n < 0 {
		r.fail("message", "not a msgpack map", err)
		return
	}
	seen := map[string]bool{}
	for i := 0; i < n && r.err == nil; i++ {
		key := r.str("key")
		if r.err == nil && seen[key] {
			r.fail(strconv.Quote(key), "key comes twice", nil)
			return
		}
		if r.known(key) {
			seen[key] = true
		}
	}
	for _, key := range []string{keyVersion, keySession, keySeq, keyClock, keyTotals} {
		if r.err == nil && !seen[key] {
			r.fail(strconv.Quote(key), "missing", nil)
		}
	}
}

// known reads the value of key; a key it does not know is skipped and counted.
func (r *reader) known(key string) bool {
	if r.err != nil {
		return false
	}
	b := r.batch
	switch key {
	case keyVersion:
		b.Version = int(r.uintMax("version", 1<<31-1))
		if r.err == nil && b.Version != Version {
			r.fail("version", fmt.Sprintf("format %d; this program reads format %d", b.Version, Version), nil)
		}
	case keySession:
		b.Session = r.str("session")
		if err := ValidSession(b.Session); err != nil {
			r.fail("session", "not a name of a session", err)
		}
	case keyProcess:
		b.Process = r.str("process")
		if err := ValidProcess(b.Process); err != nil {
			r.fail("process", "not a name of a process", err)
		}
	case keySeq:
		if b.Seq = r.uint("seq"); b.Seq == 0 {
			r.fail("seq", "sequence numbers begin at 1", nil)
		}
	case keyClock:
		b.Clock = r.clockPair("clock")
	case keyHello:
		hello := r.hello()
		if b.Hello = &hello; len(hello.Extra) > MaxExtra {
			r.fail("hello.extra", strconv.Itoa(len(hello.Extra))+" metrics, the limit is "+strconv.Itoa(MaxExtra), nil)
		}
	case keyTotals:
		b.Totals = r.totals()
	case keyLast:
		b.Last = r.bool("last")
	case keyExitNote:
		b.ExitNote = r.str("exit note")
	case keyRefusals:
		b.Refusals = listOf(r, "refusals", (*reader).refusal)
	case keyAccount:
		b.Contexts.Account = r.account("account of contexts")
	case keyRunning:
		b.Running = r.running()
	default:
		if !r.list(key) {
			r.skip("unknown key", r.lim.Unknown)
			b.Unknown++
			return false
		}
	}
	return true
}

// recordsOf reads the records of a columnar payload.
func recordsOf[R any](r *reader, field string, of *columnarOf[R]) (x []R, work Work) {
	x = entriesOf(r, field, func(data []byte, limit int) (list []R, unknown int, err error) {
		list, work, unknown, err = decodePayload(data, limit, of)
		return list, unknown, err
	})
	return x, work
}

// entriesOf reads the records of a payload.
func entriesOf[R any](r *reader, field string, decode func(data []byte, limit int) ([]R, int, error)) []R {
	data, base := r.bin(field)
	if r.err != nil {
		return nil
	}
	limit := r.lim.Events
	if field == "summaries" {
		limit = r.lim.Summaries
	}
	list, unknown, err := decode(data, limit)
	r.payloadError(field, base, err)
	r.batch.Unknown += unknown
	return list
}

func (r *reader) payloadError(field string, base int, err error) {
	if err == nil || r.err != nil {
		return
	}
	if de, ok := err.(*DecodeError); ok {
		r.err = &DecodeError{Offset: base + de.Offset, Field: field + ", " + de.Field, Problem: de.Problem, Cause: de.Cause}
		return
	}
	r.fail(field, "bad payload", err)
}

// sumNs reads a time that is a sum; one that no session can have does not become negative.
func (r *reader) sumNs(field string) units.Ns { return units.Ns(min(r.uint(field), math.MaxInt64)) }

func (r *reader) texts(field string) (m map[string]string) {
	n := r.length(field, r.mp.DecodeMapLen)
	for i := 0; i < n && r.err == nil; i++ {
		if m == nil {
			m = map[string]string{}
		}
		k := r.str(field)
		m[k] = r.str(field)
	}
	return m
}
