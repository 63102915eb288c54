package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"stackagent/internal/histogram"
)

// envelope writes a message by hand: the needed keys, unless given again.
func envelope(t testing.TB, with ...any) []byte {
	t.Helper()
	pairs := []any{"v", 1, "s", "s", "q", 1, "c", []any{1, 1}, "n", []any{0, 0, 0, []any{}, 0}}
	for i := 0; i < len(with); i += 2 {
		replaced := false
		for j := 0; j < len(pairs); j += 2 {
			if pairs[j] == with[i] {
				pairs[j+1], replaced = with[i+1], true
			}
		}
		if !replaced {
			pairs = append(pairs, with[i], with[i+1])
		}
	}
	var b bytes.Buffer
	e := msgpack.NewEncoder(&b)
	if err := e.EncodeMapLen(len(pairs) / 2); err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		if err := e.Encode(p); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// column writes one column by hand.
func column(number, way uint64, body ...byte) []byte {
	out := binary.AppendUvarint(nil, number)
	out = append(out, byte(way))
	out = binary.AppendUvarint(out, uint64(len(body)))
	return append(out, body...)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// oneCreation is a payload of one creation, columns 1 to 6.
func oneCreation(change int, with []byte) []byte {
	p := []byte{payloadFormat, 1}
	for c := 1; c <= colStart; c++ {
		if c == change {
			p = append(p, with...)
		} else {
			p = append(p, column(uint64(c), plainCodes, 2)...)
		}
	}
	return p
}

func TestDecodeRefuses(t *testing.T) {
	whole := mustEncode(t, full())
	deep := append(bytes.Repeat([]byte{0x91}, 100), 0xc0)
	cases := []struct {
		name, field, problem string
		data                 []byte
	}{
		{"nothing", "message", "map", nil},
		{"no map", "message", "map", []byte{0x01}},
		{"nil", "message", "map", []byte{0xc0}},
		{"cut", "", "", whole[:len(whole)-3]},
		{"more", "message", "left over", append(bytes.Clone(whole), 0)},
		{"huge", "message", "limit", make([]byte, MaxBatch+1)},
		{"huge map", "key", "", []byte{0xdf, 0xff, 0xff, 0xff, 0xff}},
		{"twice", "\"q\"", "twice", append([]byte{0x82, 0xa1, 'q', 1}, 0xa1, 'q', 1)},
		{"missing", "\"v\"", "missing", []byte{0x80}},
		{"version", "version", "format 2", envelope(t, "v", 2)},
		{"session", "session", "not a name", envelope(t, "s", "../../etc")},
		{"session type", "session", "no string", envelope(t, "s", 5)},
		{"seq 0", "seq", "begin at 1", envelope(t, "q", 0)},
		{"seq negative", "seq", "negative", envelope(t, "q", -1)},
		{"seq nil", "seq", "not an integer", envelope(t, "q", nil)},
		{"seq float", "seq", "not an integer", envelope(t, "q", 1.5)},
		{"clock short", "clock", "1 fields, not 2", envelope(t, "c", []any{1})},
		{"mono over 63 bits", "clock.mono", "63 bits", envelope(t, "c", []any{1, uint64(1 << 63)})},
		{"last", "last", "boolean", envelope(t, "z", 1)},
		{"class id", "classes.id (entry 0)", "more than", envelope(t, "k", []any{[]any{1 << 32, "n", 0, ""}})},
		{"kinds", "classes.kinds (entry 1)", "more than", envelope(t, "k", []any{[]any{1, "n", 0, ""}, []any{1, "n", 256, ""}})},
		{"os id", "threads.os id (entry 0)", "32 bits", envelope(t, "t", []any{[]any{1, 1, 1 << 31, "", "", "", false, false, 0, 0, 0}})},
		{"string", "exit note", "limit is 4096", envelope(t, "x", strings.Repeat("x", MaxString+1))},
		{"string claims", "exit note", "longer than the message", append(envelope(t, "x", "")[:len(envelope(t, "x", ""))-1], 0xdb, 0xff, 0xff, 0xff, 0xff)},
		{"deep", "unknown key", "nested", append([]byte{0x81, 0xa1, '?'}, deep...)},
		{"hello type", "hello", "no length", envelope(t, "h", "hello")},
		{"payload empty", "creations, format", "empty", envelope(t, "a", []byte{})},
		{"payload format", "creations, format", "knows", envelope(t, "a", []byte{9, 1})},
		{"count", "creations, count", "limit", envelope(t, "a", []byte{1, 0xff, 0xff, 0xff, 0xff, 0x7f})},
		{"count endless", "creations, count", "too long", envelope(t, "a", append([]byte{1}, bytes.Repeat([]byte{0xff}, 11)...))},
		{"no ratio", "executions, ratio", "cut short", envelope(t, "e", []byte{1, 1})},
		{"no columns", "creations, column task", "missing", envelope(t, "a", []byte{1, 1})},
		{"column missing", "creations, column class", "missing", envelope(t, "a", oneCreation(colClass, nil))},
		{"column twice", "creations, column class", "ascending", envelope(t, "a", oneCreation(colClass, column(colOuter, 0, 2)))},
		{"column too long", "creations, column class", "longer", envelope(t, "a", oneCreation(colClass, []byte{colClass, 0, 99}))},
		{"column way", "creations, column class", "encoding", envelope(t, "a", oneCreation(colClass, column(colClass, 7, 2)))},
		{"column left over", "creations, column class", "left over", envelope(t, "a", oneCreation(colClass, column(colClass, 0, 2, 2)))},
		{"column empty", "creations, column class", "cut short", envelope(t, "a", oneCreation(colClass, column(colClass, 0)))},
		{"run empty", "creations, column class", "run", envelope(t, "a", oneCreation(colClass, column(colClass, 1, 0, 2)))},
		{"run long", "creations, column class", "run", envelope(t, "a", oneCreation(colClass, column(colClass, 1, 2, 2)))},
		{"run half", "creations, column class", "cut short", envelope(t, "a", oneCreation(colClass, column(colClass, 1, 1)))},
		{"class too large", "creations, column class", "too large", envelope(t, "a", oneCreation(colClass, column(colClass, 0, 0x80, 0x80, 0x80, 0x80, 0x40)))},
		{"flags too large", "creations, column flags", "too large", envelope(t, "a", oneCreation(colFlags, column(colFlags, 0, 0x80, 0x80, 0x04)))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b, err := Decode(c.data, DefaultLimits())
			var de *DecodeError
			if b != nil || !errors.As(err, &de) {
				t.Fatalf("batch %v, error %v", b, err)
			}
			if !strings.Contains(de.Field, c.field) || !strings.Contains(de.Error(), c.problem) {
				t.Errorf("error %q, want field %q and problem %q", de, c.field, c.problem)
			}
			if de.Offset < 0 || de.Offset > len(c.data) {
				t.Errorf("offset %d of %d", de.Offset, len(c.data))
			}
		})
	}
}

// The offset of an error in a payload is that in the message.
func TestErrorOffsetInPayload(t *testing.T) {
	data := envelope(t, "a", []byte{9, 1})
	_, err := Decode(data, DefaultLimits())
	var de *DecodeError
	if !errors.As(err, &de) || de.Offset != len(data)-2 {
		t.Errorf("%+v, want offset %d", de, len(data)-2)
	}
}

// What a newer agent adds is skipped and counted.
func TestDecodeSkipsUnknown(t *testing.T) {
	payload := join(oneCreation(0, nil), column(40, 9, 1, 2, 3), column(41, 0))
	data := envelope(t,
		"future", map[string]any{"a": []any{1, "x", []byte{1}, 1.5, nil, true}},
		"c", []any{1, 2, "more", 3},
		"a", payload)
	b, err := Decode(data, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	want := []Creation{{TaskID: 1, OuterTaskID: 1, Class: 1, Thread: 1, Flags: 2, At: 1}}
	if b.Unknown != 5 || b.Clock != (ClockPair{1, 2}) || !reflect.DeepEqual(b.Creations, want) {
		t.Errorf("unknown %d, want 5; clock %v; creations %v", b.Unknown, b.Clock, b.Creations)
	}
}

func TestDecodeCleansText(t *testing.T) {
	for text, want := range map[string]string{
		"a\xffb":                           "a\uFFFDb",
		"a\xed\xa0\xbd\xed\xb8\x80 \u00e9": "a\U0001F600 \u00e9", // as the JVM writes it
		"\xed\xa0\xbd!":                    "\uFFFD!",
		"\xed\xb8\x80\xed\xa0\xbd":         "\uFFFD",
		"\xed\xa0\xbd\xed\xb8":             "\uFFFD",
		"\xed\x9f\xbf\xff":                 "\ud7ff\uFFFD",
	} {
		b, err := Decode(envelope(t, "x", text), DefaultLimits())
		if err != nil || b.ExitNote != want {
			t.Errorf("%q: %q, want %q, %v", text, b.ExitNote, want, err)
		}
	}
}

// widest is an entry with as many buckets as there are, two bytes each.
func widest() []byte {
	out := []byte{1, 1}
	body := numbers(0, 0, 0, histogram.Buckets)
	for range histogram.Buckets {
		body = append(body, 0, 1)
	}
	out = append(append(out, numbers(uint64(len(body)))...), body...)
	return entry(out...)
}

// maxAllocated is what the page of the format promises.
const maxAllocated = 96 << 20

// withWork adds all columns of extra metrics, each one run.
func withWork(payload []byte) []byte {
	for c := uint64(colWork); c < colWorkEnd; c++ {
		payload = append(payload, column(c, runCodes, append(binary.AppendUvarint(nil, MaxEvents), 0)...)...)
	}
	return payload
}

func constructionRuns(rows uint64) []byte {
	p := append(append([]byte{1}, binary.AppendUvarint(nil, rows)...), 0)
	for _, c := range []uint64{colTask, colClass, colThread, colWall, colCPU} {
		p = append(p, column(c, runCodes, append(binary.AppendUvarint(nil, rows), 0)...)...)
	}
	return withWork(p)
}

// A few bytes must not make the reader allocate much.
func TestDecodeMemory(t *testing.T) {
	run := func(rows uint64, columns uint64) []byte { // all columns one run
		p := append([]byte{1}, binary.AppendUvarint(nil, rows)...)
		if columns == colChildCPU {
			p = append(p, 0) // the ratio
		}
		for c := uint64(1); c <= columns; c++ {
			p = append(p, column(c, runCodes, append(binary.AppendUvarint(nil, rows), 0)...)...)
		}
		return p
	}
	const entries = 60000
	list := func(entry ...any) []any {
		l := make([]any, entries)
		for i := range l {
			l[i] = entry
		}
		return l
	}
	// In memory an Execution takes 96 bytes, a Class 72.
	threads := list(1, 1, 1, "", "", "", true, true, 0, 0, 0)
	for name, x := range map[string]struct {
		mib  uint64 // at most
		data []byte
	}{
		"many":      {47, envelope(t, "e", run(MaxEvents, colChildCPU), "a", run(MaxEvents, colStart), "k", list(1, "", 0, ""), "o", list(1, "", 0, 0), "p", list(1, 2))},
		"threads":   {24, envelope(t, "t", threads)},
		"all":       {maxAllocated >> 20, envelope(t, "t", threads, "e", withWork(run(MaxEvents, colChildCPU)), "a", run(MaxEvents, colStart), "d", run(MaxEvents, colStart), "b", constructionRuns(MaxEvents))},
		"array":     {1, append([]byte{0x81, 0xa1, 'k', 0xdd}, 0, 0, 0xff, 0xff)},
		"submitted": {64, envelope(t, "e", withWork(run(MaxEvents, colChildCPU)), "a", run(MaxEvents, colStart), "d", run(MaxEvents, colStart), "b", constructionRuns(MaxEvents))},
		"runs":      {16, envelope(t, "e", run(MaxEvents, colChildCPU))},
		"summaries": {8, envelope(t, "u", payloadOf(slices.Repeat([][]byte{widest()}, 80)...))},
		"bytes":     {1, []byte{0x81, 0xa1, 'e', 0xc6, 0x7f, 0xff, 0xff, 0xff}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(x.data, DefaultLimits())
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > x.mib<<20 {
			t.Errorf("%s: %d bytes of input allocated %d (error %v)", name, len(x.data), got, err)
		} else {
			t.Logf("%s: %d bytes of input allocated %d (error %v)", name, len(x.data), got, err)
		}
	}
	if _, err := Decode(envelope(t, "e", run(MaxEvents, colChildCPU)), DefaultLimits()); err != nil {
		t.Errorf("as many executions as the limit allows: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(mustEncode(f, full()))
	f.Add(mustEncode(f, complete()))
	f.Add(mustEncode(f, withContexts()))
	f.Add(mustEncode(f, withSiteSums()))
	f.Add(mustEncode(f, withVirtual()))
	f.Add(mustEncode(f, withWaits()))
	f.Add(mustEncode(f, empty()))
	b := empty()
	b.Executions = forkJoin(50)
	b.Creations = created(b.Executions)
	f.Add(mustEncode(f, b))
	f.Add(envelope(f, "future", []any{1, []any{2}}, "a", oneCreation(0, nil)))
	f.Add(envelope(f, "a", oneCreation(colClass, column(colClass, 1, 1, 2))))
	f.Add(envelope(f, "u", payloadOf(entry(2, 1, 8, 9, 9, 9, 1, 7, 1, 42, 42, 100, 1, 0), entry(0))))
	lim := DefaultLimits()
	lim.Events = 4096 // keep the fuzzer's memory small
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Decode(data, lim)
		if err != nil {
			var de *DecodeError
			if !errors.As(err, &de) || b != nil {
				t.Fatalf("error %T %v with batch %v", err, err, b)
			}
			return
		}
		// What was accepted can be written and reads the same.
		b.Unknown = 0
		again, err := Decode(mustEncode(t, b), DefaultLimits())
		if err != nil {
			t.Fatalf("accepted, but its encoding is not: %v", err)
		}
		normal(b)
		normal(again)
		if !reflect.DeepEqual(again, b) {
			t.Fatalf("%+v\n%+v", b, again)
		}
	})
}

// normal makes empty lists nil: the writer leaves them out.
func normal(b *Batch) {
	if len(b.Executions) == 0 {
		b.Executions = nil
	}
	if len(b.Creations) == 0 {
		b.Creations = nil
	}
	if len(b.Summaries) == 0 {
		b.Summaries = nil
	}
	if len(b.Constructions) == 0 {
		b.Constructions, b.ConstructionWork = nil, Work{}
	}
	if len(b.Executions) == 0 {
		b.ExecutionWork = Work{}
	}
	if len(b.Submissions) == 0 {
		b.Submissions = nil
	}
}
