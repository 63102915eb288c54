package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
)

// undump reads what hex.Dump wrote.
func undump(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var data []byte
	for line := range strings.Lines(string(text)) {
		digits := strings.ReplaceAll(line[10:58], " ", "")
		b, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, b...)
	}
	return data
}

// A batch of an agent that knew neither summaries nor counts by thread.
func TestDecodeOlderBatch(t *testing.T) {
	got, err := Decode(undump(t, "testdata/before-summaries.hex"), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	want := full()
	want.Summaries, want.Hello.Detail = nil, ""
	th := &want.Threads[0]
	th.Counted, th.Executions, th.Creations, th.Lost = false, 0, 0, 0
	n := &want.Totals
	n.VirtualExecutions, n.VirtualCreations, n.VirtualLost, n.LostByThread = 0, 0, 0, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("decoded\n%+v\nwant\n%+v", got, want)
	}
}

func TestSummariesRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		b := empty()
		for range 1 + rng.IntN(5) {
			s := Summary{
				Class: uint32(odd(rng)), Thread: uint32(odd(rng)), Flags: SummaryFlags(odd(rng)), From: units.Ticks(odd(rng)), To: units.Ticks(odd(rng)),
				Executions: odd(rng), First: odd(rng), Threw: odd(rng), Cut: odd(rng), CreationUnseen: odd(rng),
				Creations: odd(rng), Failed: odd(rng), Withdrawn: odd(rng),
				Submissions: odd(rng), Inner: odd(rng), Rejected: odd(rng), Cancelled: odd(rng), LastEnd: units.Ticks(odd(rng)), Outer: uint32(odd(rng)),
			}
			for metric := MetricWall; metric <= MetricSelfCPU; metric++ {
				if rng.IntN(3) > 0 {
					s.Measures = append(s.Measures, oddMeasure(rng, metric))
				}
			}
			if got := len(appendSummary(nil, &s)); got > s.EncodedSize() {
				t.Fatalf("%d bytes where at most %d were promised: %+v", got, s.EncodedSize(), s)
			}
			b.Summaries = append(b.Summaries, s)
		}
		roundTrip(t, b)
	}
}

func oddMeasure(rng *rand.Rand, metric Metric) Measure {
	m := Measure{Metric: metric, Sum: odd(rng), Min: odd(rng), Max: odd(rng)}
	for i := rng.IntN(100); i < histogram.Buckets; i += 1 + rng.IntN(500) {
		count := max(1, odd(rng)>>5)
		m.Buckets = append(m.Buckets, histogram.Bucket{Index: uint16(i), Count: count})
		m.Count += count
	}
	return m
}

func TestEncodeRefusesSummaries(t *testing.T) {
	bucket := func(index uint16, count uint64) histogram.Bucket { return histogram.Bucket{Index: index, Count: count} }
	measures := func(m ...Measure) []Summary { return []Summary{{Measures: m}} }
	for name, list := range map[string][]Summary{
		"metric 0":       measures(Measure{}),
		"metrics":        measures(Measure{Metric: 2}, Measure{Metric: 2}),
		"count":          measures(Measure{Metric: 1, Count: 3, Buckets: []histogram.Bucket{bucket(1, 2)}}),
		"empty bucket":   measures(Measure{Metric: 1, Buckets: []histogram.Bucket{bucket(1, 0)}}),
		"order":          measures(Measure{Metric: 1, Count: 2, Buckets: []histogram.Bucket{bucket(5, 1), bucket(5, 1)}}),
		"beyond":         measures(Measure{Metric: 1, Count: 1, Buckets: []histogram.Bucket{bucket(histogram.Buckets, 1)}}),
		"sum of 65 bits": measures(Measure{Metric: 1, Count: math.MaxUint64, Buckets: []histogram.Bucket{bucket(5, math.MaxUint64), bucket(6, 1)}}),
	} {
		b := empty()
		b.Summaries = list
		if out, err := Encode(b, nil); err == nil || out != nil {
			t.Errorf("%s: encoded in %d bytes", name, len(out))
		}
	}
	b := empty()
	b.Summaries = make([]Summary, MaxSummaries+1)
	if _, err := Encode(b, nil); !errors.Is(err, ErrTooMany) {
		t.Errorf("too many: %v", err)
	}
}

// numbers writes varints.
func numbers(v ...uint64) (out []byte) {
	for _, x := range v {
		out = binary.AppendUvarint(out, x)
	}
	return out
}

// entry writes one summary by hand: zeros, then the measures' bytes, count of them first.
func entry(measures ...byte) []byte {
	body := append(make([]byte, summaryFields), measures...)
	return append(numbers(uint64(len(body))), body...)
}

func payloadOf(entries ...[]byte) []byte {
	return append(numbers(payloadFormat, uint64(len(entries))), bytes.Join(entries, nil)...)
}

func TestDecodeRefusesSummaries(t *testing.T) {
	measure := func(metric byte, body ...byte) []byte { return append([]byte{1, metric, byte(len(body))}, body...) }
	cases := map[string]struct {
		field, problem string
		data           []byte
	}{
		"empty":          {"format", "empty", []byte{}},
		"count":          {"count", "limit", numbers(1, MaxSummaries+1)},
		"count without":  {"count", "can hold", numbers(1, 5, 2, 0, 0)},
		"entry too long": {"summary", "longer", append(numbers(1, 1, 99), make([]byte, 20)...)},
		"entry cut":      {"summary.from", "beyond its entry", payloadOf(append([]byte{3, 0, 0, 0}, make([]byte, 20)...))},
		"class": {"summary.class", "too large", payloadOf(func() []byte {
			b := append(numbers(1<<32), make([]byte, 13)...)
			return append([]byte{byte(len(b))}, b...)
		}())},
		"metric order":      {"measure.metric", "ascending", payloadOf(entry(2, 2, 4, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0))},
		"metric 0":          {"measure.metric", "ascending", payloadOf(entry(measure(0, 0, 0, 0, 0)...))},
		"measure too long":  {"measure", "longer", payloadOf(entry(1, 1, 99, 0, 0, 0, 0))},
		"measure over":      {"measure", "beyond its entry", append(payloadOf(entry(1, 1, 4, 0, 0)), 0, 0)},
		"measure cut":       {"measure.max", "beyond its entry", payloadOf(entry(append(measure(1, 0, 0), 0, 0)...))},
		"buckets claimed":   {"measure.buckets", "can hold", payloadOf(entry(measure(1, 0, 0, 0, 5, 1, 1)...))},
		"buckets over":      {"measure.buckets", "too large", payloadOf(entry(measure(1, append([]byte{0, 0, 0}, numbers(histogram.Buckets+1)...)...)...))},
		"bucket empty":      {"bucket.count", "empty", payloadOf(entry(measure(1, 0, 0, 0, 1, 5, 0)...))},
		"bucket beyond":     {"bucket.index", "last bucket", payloadOf(entry(measure(1, append([]byte{0, 0, 0, 1}, numbers(histogram.Buckets, 1)...)...)...))},
		"bucket sum beyond": {"bucket.index", "last bucket", payloadOf(entry(measure(1, append([]byte{0, 0, 0, 2}, numbers(histogram.Buckets-1, 1, 0, 1)...)...)...))},
		"count of 65 bits":  {"bucket.count", "64 bits", payloadOf(entry(measure(1, append([]byte{0, 0, 0, 2}, numbers(5, math.MaxUint64, 0, 1)...)...)...))},
		"left over":         {"summaries", "left over", append(payloadOf(entry(0)), 0)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b, err := Decode(envelope(t, "u", c.data), DefaultLimits())
			var de *DecodeError
			if b != nil || !errors.As(err, &de) {
				t.Fatalf("batch %v, error %v", b, err)
			}
			if de.Field != "summaries, "+c.field || !strings.Contains(de.Problem, c.problem) {
				t.Errorf("error %q, want field %q and problem %q", de, c.field, c.problem)
			}
		})
	}
}

// Metrics, fields of a measure and fields of a summary of a newer agent are
// passed over and counted, and the rest is read.
func TestDecodeSkipsUnknownInSummaries(t *testing.T) {
	data := payloadOf(entry(3, 1, 8, 9, 9, 9, 1, 7, 1, 42, 42, 9, 1, 0, 100, 3, 1, 2, 3, 9, 8, 7, 6, 50, 3, 5, 77), entry(0), entry(0, 9, 8, 7, 6))
	b, err := Decode(envelope(t, "u", data), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	want := []Summary{{Measures: []Measure{{Metric: MetricWall, Count: 1, Sum: 9, Min: 9, Max: 9, Buckets: []histogram.Bucket{{Index: 7, Count: 1}}}},
		Submissions: 9, Inner: 8, Rejected: 7, Cancelled: 6, LastEnd: 50, Outer: 3, Timed: 5}, {}, {Submissions: 9, Inner: 8, Rejected: 7, Cancelled: 6}} // the last: an older agent
	if b.Unknown != 4 || !reflect.DeepEqual(b.Summaries, want) {
		t.Errorf("unknown %d, want 4; %+v", b.Unknown, b.Summaries)
	}
}

// realistic is the summary of a second of small tasks: two octaves wide.
func realistic() Summary {
	s := Summary{Class: 7, Thread: 12, From: 1e15, To: 1e15 + 3e9, Executions: 20e6, First: 20e6, Creations: 20e6}
	for metric := MetricWall; metric <= MetricSelfCPU; metric++ {
		m := Measure{Metric: metric, Sum: 3e9, Min: 20, Max: 5e6}
		for i := range 120 {
			m.Buckets = append(m.Buckets, histogram.Bucket{Index: uint16(40 + i), Count: uint64(20e6 / (i + 1))})
			m.Count += m.Buckets[i].Count
		}
		s.Measures = append(s.Measures, m)
	}
	return s
}

func TestBytesOfASummary(t *testing.T) {
	s := realistic()
	n := len(appendSummary(nil, &s))
	t.Logf("%d bytes, at most %d promised", n, s.EncodedSize())
	if n > 2500 || s.EncodedSize() > 2*n {
		t.Errorf("%d bytes, promised at most %d", n, s.EncodedSize())
	}
}

func BenchmarkSummaries(b *testing.B) {
	x := empty()
	for range 100 {
		x.Summaries = append(x.Summaries, realistic())
	}
	data := mustEncode(b, x)
	for b.Loop() {
		if _, err := Decode(data, DefaultLimits()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(data))/100, "B/summary")
}
