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
		b.Clock = r.clock("clock")
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
	default:
		return r.list(key)
	}
	return true
}

// list reads the lists and payloads of the envelope.
func (r *reader) list(key string) bool {
	b := r.batch
	var err error
	unknown := 0
	switch key {
	case keyClasses:
		b.Classes = listOf(r, "classes", (*reader).class)
	case keyThreads:
		b.Threads = listOf(r, "threads", (*reader).thread)
	case keyOS:
		b.OS = listOf(r, "os threads", (*reader).osThread)
	case keyPauses:
		b.Pauses = listOf(r, "pauses", (*reader).pause)
	case keyRefusals:
		b.Refusals = listOf(r, "refusals", (*reader).refusal)
	case keyExecutors:
		b.Executors = listOf(r, "executors", (*reader).executor)
	case keySites:
		b.Sites = listOf(r, "sites", (*reader).site)
	case keySiteSums:
		b.SiteSums = listOf(r, "site sums", (*reader).siteSum)
	case keyExecutions:
		data, base := r.bin("executions")
		if r.err == nil {
			b.Executions, b.ExecutionWork, unknown, err = decodePayload(data, r.lim.Events, &executionsPayload)
			r.payloadError("executions", base, err)
		}
	case keyCreations:
		data, base := r.bin("creations")
		if r.err == nil {
			b.Creations, _, unknown, err = decodePayload(data, r.lim.Events, &creationsPayload)
			r.payloadError("creations", base, err)
		}
	case keyConstructions:
		data, base := r.bin("constructions")
		if r.err == nil {
			b.Constructions, b.ConstructionWork, unknown, err = decodePayload(data, r.lim.Events, &constructionsPayload)
			r.payloadError("constructions", base, err)
		}
	case keySubmissions:
		data, base := r.bin("submissions")
		if r.err == nil {
			b.Submissions, _, unknown, err = decodePayload(data, r.lim.Events, &submissionsPayload)
			r.payloadError("submissions", base, err)
		}
	case keySummaries:
		data, base := r.bin("summaries")
		if r.err == nil {
			b.Summaries, unknown, err = decodeSummaries(data, r.lim.Summaries)
			r.payloadError("summaries", base, err)
		}
	case keyVirtual:
		data, base := r.bin("virtual threads")
		if r.err == nil {
			b.Virtual, unknown, err = decodeVirtual(data, r.lim.Events)
			r.payloadError("virtual threads", base, err)
		}
	case keyWaits:
		data, base := r.bin("waits")
		if r.err == nil {
			b.Waits, _, unknown, err = decodePayload(data, r.lim.Events, &waitsPayload)
			r.payloadError("waits", base, err)
		}
	case keyTaskTraces:
		data, base := r.bin("task traces")
		if r.err == nil {
			b.TaskTraces, _, unknown, err = decodePayload(data, r.lim.Events, &taskTracesPayload)
			r.payloadError("task traces", base, err)
		}
	case keyWaitSums:
		b.WaitSums = listOf(r, "wait sums", (*reader).waitSum)
	case keyRunning:
		b.Running = r.running()
	case keyBlockers:
		b.Blockers = listOf(r, "blockers", (*reader).blocker)
	case keyInsideMonitors:
		b.InsideMonitors = listOf(r, "inside monitors", (*reader).insideMonitor)
	case keyInsideSamples:
		b.InsideSamples = listOf(r, "inside samples", (*reader).insideSample)
	default:
		if r.decodeContexts(key, &b.Contexts) {
			return true
		}
		r.skip("unknown key", r.lim.Unknown)
		b.Unknown++
		return false
	}
	b.Unknown += unknown
	return true
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

func (r *reader) refusal(field string) (x Refusal) {
	end := r.fields(field, 3)
	x.Reason = r.str(field + ".reason")
	x.Count = r.uint(field + ".count")
	x.Sample = r.str(field + ".sample")
	end()
	return x
}

func (r *reader) loss(field string) (l Loss) {
	end := r.fields(field, 2)
	l.Reason = r.str(field + ".reason")
	l.Events = r.uint(field + ".events")
	end()
	return l
}

func (r *reader) threadLoss(field string) (l ThreadLoss) {
	end := r.fields(field, 2)
	l.Thread = uint32(r.uintMax(field+".thread", 1<<32-1))
	l.Events = r.uint(field + ".events")
	end()
	return l
}

// sumNs reads a time that is a sum; one that no session can have does not become negative.
func (r *reader) sumNs(field string) units.Ns { return units.Ns(min(r.uint(field), math.MaxInt64)) }

func (r *reader) clock(field string) (c ClockPair) {
	end := r.fields(field, 2)
	c.Ticks = units.Ticks(r.uint(field + ".ticks"))
	c.Mono = units.MonoNs(r.int(field + ".mono"))
	end()
	return c
}

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
