package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"stackagent/internal/units"
)

var update = flag.Bool("update", false, "write the golden files anew")

func mustEncode(t testing.TB, b *Batch) []byte {
	t.Helper()
	data, err := Encode(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func roundTrip(t *testing.T, b *Batch) {
	t.Helper()
	got, err := Decode(mustEncode(t, b), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, b) {
		t.Fatalf("decoded\n%+v\nwant\n%+v", got, b)
	}
}

func empty() *Batch { return &Batch{Version: Version, Session: "s", Seq: 1} }

func TestRoundTrip(t *testing.T) {
	t.Run("full", func(t *testing.T) { roundTrip(t, full()) })
	t.Run("empty", func(t *testing.T) { roundTrip(t, empty()) })
	rng := rand.New(rand.NewPCG(1, 2))
	for name, x := range map[string][]Execution{"pool": pool(5000, rng), "fork join": forkJoin(5000)} {
		t.Run(name, func(t *testing.T) {
			b := empty()
			b.Executions, b.Creations = x, created(x)
			roundTrip(t, b)
		})
	}
}

// odd gives values that are likely to break arithmetic.
func odd(rng *rand.Rand) uint64 {
	edges := []uint64{0, 1, 2, math.MaxUint64, math.MaxUint64 - 1, 1 << 63, 1<<63 - 1, 1<<63 + 1, 1 << 32, 1<<32 - 1}
	switch rng.IntN(4) {
	case 0:
		return edges[rng.IntN(len(edges))]
	case 1:
		return uint64(rng.IntN(5))
	default:
		return rng.Uint64() >> rng.IntN(64)
	}
}

// Any values at all must survive: the arithmetic of the columns wraps around
// and the codes with a meaning of their own must not swallow a value.
func TestRoundTripOddValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		b := empty()
		for range 1 + rng.IntN(40) {
			b.Executions = append(b.Executions, Execution{
				TaskID: odd(rng), OuterTaskID: odd(rng), Class: uint32(odd(rng)), Thread: uint32(odd(rng)),
				Depth: uint16(odd(rng)), Flags: ExecutionFlags(odd(rng)), Start: units.Ticks(odd(rng)), End: units.Ticks(odd(rng)),
				CPU: units.Ns(odd(rng)), ChildTicks: units.Ticks(odd(rng)), ChildCPU: units.Ns(odd(rng)),
			})
			b.Creations = append(b.Creations, Creation{
				TaskID: odd(rng), OuterTaskID: odd(rng), Class: uint32(odd(rng)), Thread: uint32(odd(rng)),
				Flags: CreationFlags(odd(rng)), At: units.Ticks(odd(rng)),
			})
		}
		roundTrip(t, b)
	}
}

// TestRoundTripThreads: what a thread produced and whose worker it is travel on their own or together.
func TestRoundTripThreads(t *testing.T) {
	b := empty()
	b.Threads = []Thread{{ID: 1}, {ID: 2, Executor: 7}, {ID: 3, Counted: true, Executions: 300, Creations: 20, Lost: 1},
		{ID: 4, Counted: true, Executions: 1, Executor: 1<<32 - 1}}
	roundTrip(t, b)
}

// The size of realistic executions is a promise of the format's page.
func TestBytesPerExecution(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, x := range map[string][]Execution{"pool": pool(20000, rng), "fork join": forkJoin(20000)} {
		b := empty()
		b.Executions = x
		per := float64(len(mustEncode(t, b))) / float64(len(x))
		t.Logf("%s: %.2f bytes an execution", name, per)
		if per > 10 {
			t.Errorf("%s: %.2f bytes an execution, want at most 10", name, per)
		}
	}
}

func TestGolden(t *testing.T) { golden(t, "testdata/full.hex", mustEncode(t, full())) }

// golden holds bytes against those of a file that earlier versions wrote.
func golden(t *testing.T, path string, data []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(hex.Dump(data)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.Dump(data); got != string(want) {
		t.Errorf("the format has changed; sessions and agents in use cannot follow.\ngot\n%s\nwant\n%s", got, want)
	}
}

func TestEncodeAppendsAndCuts(t *testing.T) {
	b := empty()
	b.ExitNote = strings.Repeat("ä", MaxString)
	data, err := Encode(b, []byte("head"))
	if err != nil || !bytes.HasPrefix(data, []byte("head")) {
		t.Fatalf("%v %q", err, data[:4])
	}
	got, err := Decode(data[4:], DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.ExitNote) > MaxString || len(got.ExitNote) < MaxString-8 || !strings.HasSuffix(got.ExitNote, "ä...") {
		t.Errorf("cut to %d bytes ending in %q", len(got.ExitNote), got.ExitNote[len(got.ExitNote)-8:])
	}
}

func TestEncodeRefuses(t *testing.T) {
	many := empty()
	many.Executions = make([]Execution, MaxEvents+1)
	list := empty()
	list.Pauses = make([]Pause, MaxItems+1)
	seq := empty()
	seq.Seq = 0
	name := empty()
	name.Session = "../up"
	for what, b := range map[string]*Batch{"events": many, "list": list, "seq": seq, "name": name} {
		out, err := Encode(b, []byte("x"))
		if err == nil || string(out) != "x" {
			t.Errorf("%s: error %v, %d bytes", what, err, len(out))
		}
		if (what == "events" || what == "list") != errors.Is(err, ErrTooMany) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestValidSession(t *testing.T) {
	good := []string{"a", "host-1-20260102T030405", "A.b_c-9", "-", strings.Repeat("x", 128)}
	bad := []string{"", ".", "..", ".a", "a.", "a..b", "a/b", "a b", "a\x00", "ä", "*", ">", "a\\b", strings.Repeat("x", 129)}
	for _, s := range good {
		if err := ValidSession(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range bad {
		if ValidSession(s) == nil {
			t.Errorf("%q is taken", s)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, w := range workloads() {
		b.Run(w.name, func(b *testing.B) {
			var e Encoder
			var buf []byte
			var events int
			began := time.Now()
			for b.Loop() {
				out, err := e.Encode(w.batch, buf[:0])
				if err != nil {
					b.Fatal(err)
				}
				buf = out
				events += len(w.batch.Executions)
			}
			b.ReportMetric(float64(time.Since(began).Nanoseconds())/float64(events), "ns/event")
			b.ReportMetric(float64(len(buf))/float64(len(w.batch.Executions)), "B/event")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, w := range workloads() {
		b.Run(w.name, func(b *testing.B) {
			data := mustEncode(b, w.batch)
			var events int
			began := time.Now()
			for b.Loop() {
				got, err := Decode(data, DefaultLimits())
				if err != nil {
					b.Fatal(err)
				}
				events += len(got.Executions)
			}
			b.ReportMetric(float64(time.Since(began).Nanoseconds())/float64(events), "ns/event")
		})
	}
}

type workload struct {
	name  string
	batch *Batch
}

func workloads() []workload {
	rng := rand.New(rand.NewPCG(1, 2))
	a, b := empty(), empty()
	a.Executions, b.Executions = pool(16384, rng), forkJoin(16384)
	return []workload{{"pool", a}, {"forkjoin", b}}
}

func TestProcessNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"": true, "42-18f-00a1": true, "a_B-9": true, strings.Repeat("x", MaxProcess): true,
		strings.Repeat("x", MaxProcess+1): false, "a.b": false, "a b": false, "a\r\nNats-Msg-Id: 1": false, "é": false,
	} {
		if err := ValidProcess(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
		b := full()
		b.Process = name
		if _, err := Encode(b, nil); (err == nil) != ok {
			t.Errorf("encoding a batch of process %q: %v", name, err)
		}
	}
}

// Ids stay the same for what is sent again, and say nothing of those of others.
func TestMessageIDs(t *testing.T) {
	a, b := NewMessageIDs(), NewMessageIDs()
	first := a.Of(7)
	if a.Of(7) != first || a.Of(7) == a.Of(8) || a.Of(7) == b.Of(7) || len(a.Of(7)) < 32 {
		t.Errorf("message ids %q, %q, %q", a.Of(7), a.Of(8), b.Of(7))
	}
}

// Memory that is used again holds nothing of the batch before.
func TestRelease(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	large := empty()
	large.Executions = pool(5000, rng)
	large.Creations = created(large.Executions)
	for range 20 {
		roundTrip(t, full())
		b, err := Decode(mustEncode(t, large), DefaultLimits())
		if err != nil || !reflect.DeepEqual(b, large) {
			t.Fatalf("after a smaller batch: %v, or other records", err)
		}
		b.Release()
		if b.Executions != nil || b.Creations != nil {
			t.Fatal("a released batch still has records")
		}
	}
}

// TestPauseCause: the cause travels, and an agent that does not know it sends what older agents do.
func TestPauseCause(t *testing.T) {
	in := &Batch{Version: Version, Session: "s", Process: "p", Seq: 1, Pauses: []Pause{{Start: 1, End: 2}, {Start: 3, End: 4, Cause: units.GCCauseOf("System.gc()")}}}
	out, err := Decode(mustEncode(t, in), DefaultLimits())
	if err != nil || !reflect.DeepEqual(out.Pauses, in.Pauses) {
		t.Errorf("%+v, %v; want %+v", out, err, in.Pauses)
	}
}
