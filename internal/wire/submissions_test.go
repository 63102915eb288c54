package wire

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
)

const notMeasured = int64(units.NotMeasured)

// complete is full and all that is there only where it is asked for.
func complete() *Batch {
	b := full()
	b.Hello.Extra = []Extra{{Name: "bytecodes", How: "woven"}, {Name: "alloc", Unit: "bytes", How: "thread-local buffer"}}
	b.Totals.Submissions, b.Totals.Constructions, b.Totals.LostSubmissions, b.Totals.LostConstructions = 70, 80, 7, 8
	b.Executions[0].Site, b.Executions[0].Submitted = 3, 700
	b.Running = &RunningReport{At: 1 << 59, More: 3, Threads: []RunningThread{
		{Thread: 4, Executions: []RunningExecution{{TaskID: 9, Class: 2, Start: 1 << 58}, {TaskID: 11, Class: 3, Start: 1 << 59}}}, {Thread: 5}}}
	b.Creations[0].Site = 2
	b.ExecutionWork = Work{Total: [][]int64{{5000, notMeasured}, {0, 64}}, Nested: [][]int64{{300, 0}, {0, notMeasured}}}
	b.Constructions = []Construction{
		{TaskID: 5, Class: 1, Thread: 2, Wall: 80, CPU: 26}, {TaskID: 9, Class: 1, Thread: 3, Wall: 1 << 50, CPU: units.NotMeasured},
	}
	b.ConstructionWork = Work{Total: [][]int64{{12, 13}, {notMeasured, 48}}}
	b.Submissions = []Submission{
		{TaskID: 5, OuterTaskID: 1, Class: 1, Thread: 2, Executor: 1, Site: 2, Flags: Inner, At: 950},
		{TaskID: 5, Class: 1, Thread: 2, Flags: Cancelled, At: 990},
	}
	b.Executors = []Executor{{ID: 1, Class: "java.util.concurrent.ThreadPoolExecutor", Name: "pool-1"}, {ID: 1<<32 - 1}}
	b.Sites = []Site{{ID: 2, Class: "com.acme.Main", Method: "main", File: "Main.java", Line: 42}, {ID: 3, Line: -1}}
	s := &b.Summaries[0]
	for _, m := range []Metric{MetricQueue, MetricOfExtra(0, false), MetricOfExtra(0, true), MetricOfExtra(MaxExtra-1, true)} {
		s.Measures = append(s.Measures, Measure{Metric: m, Count: 2, Sum: 9, Min: 4, Max: 5, Buckets: []histogram.Bucket{{Index: 4, Count: 1}, {Index: 5, Count: 1}}})
	}
	return b
}

func TestSubmissionRoundTrip(t *testing.T) {
	roundTrip(t, complete())
	rng := rand.New(rand.NewPCG(7, 8))
	for range 400 {
		b := empty()
		for range 1 + rng.IntN(40) {
			b.Executions = append(b.Executions, Execution{Start: units.Ticks(odd(rng)), Site: uint32(odd(rng)), Submitted: units.Ticks(odd(rng))})
			b.Creations = append(b.Creations, Creation{Site: uint32(odd(rng))})
			b.Constructions = append(b.Constructions, Construction{
				TaskID: odd(rng), Class: uint32(odd(rng)), Thread: uint32(odd(rng)), Wall: units.Ticks(odd(rng)), CPU: units.Ns(odd(rng)),
			})
			b.Submissions = append(b.Submissions, Submission{
				TaskID: odd(rng), OuterTaskID: odd(rng), Class: uint32(odd(rng)), Thread: uint32(odd(rng)), Executor: uint32(odd(rng)),
				Site: uint32(odd(rng)), Flags: SubmissionFlags(odd(rng)), At: units.Ticks(odd(rng)),
			})
		}
		b.ExecutionWork = Work{Total: oddColumns(rng, len(b.Executions))}
		if n := len(b.ExecutionWork.Total); n > 0 && rng.IntN(2) == 0 {
			for range n {
				b.ExecutionWork.Nested = append(b.ExecutionWork.Nested, oddColumn(rng, len(b.Executions)))
			}
		}
		b.ConstructionWork = Work{Total: oddColumns(rng, len(b.Constructions))}
		roundTrip(t, b)
	}
}

func oddColumns(rng *rand.Rand, rows int) (columns [][]int64) {
	for range rng.IntN(MaxExtra + 1) {
		columns = append(columns, oddColumn(rng, rows))
	}
	return columns
}

func oddColumn(rng *rand.Rand, rows int) []int64 {
	column := make([]int64, rows)
	for i := range column {
		if column[i] = int64(odd(rng)); rng.IntN(8) == 0 {
			column[i] = notMeasured
		}
	}
	return column
}

// Everything that came with the work metrics, byte by byte.
func TestSubmissionGolden(t *testing.T) {
	golden(t, "testdata/complete.hex", mustEncode(t, complete()))
}

// What a batch does not have costs it nothing: a column of zeros among others
// is not written, and testdata/full.hex, from before there were any, still holds.
func TestAbsentColumnsAreLeftOut(t *testing.T) {
	b := full()
	before := len(mustEncode(t, b))
	b.Executions[1].Site = 1
	withSite := len(mustEncode(t, b))
	if withSite <= before || withSite > before+10 {
		t.Errorf("%d bytes without a site, %d with one", before, withSite)
	}
}

// A column of extra metrics that is missing before another was not measured.
func TestWorkColumnsMissing(t *testing.T) {
	payload := join([]byte{1, 1, 0}, column(colTask, 0, 2), column(colClass, 0, 2), column(colThread, 0, 2), column(colWall, 0, 2), column(colCPU, 0, 0),
		column(colWork+3, 0, 11), column(colWork+4, 0, 13), column(colWorkEnd, 0, 1))
	b, err := Decode(envelope(t, "b", payload), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	want := Work{Total: [][]int64{{notMeasured}, {notMeasured}, {6}}, Nested: [][]int64{{notMeasured}, {5}, {notMeasured}}}
	if !reflect.DeepEqual(b.ConstructionWork, want) || b.Unknown != 1 {
		t.Errorf("%v, %d unknown, want %v, 1", b.ConstructionWork, b.Unknown, want)
	}
}

func TestSubmissionRefused(t *testing.T) {
	submission := func(change int, with []byte) []byte {
		p := []byte{1, 1}
		for c := 1; c <= colStart; c++ {
			if c == change {
				p = append(p, with...)
			} else {
				p = append(p, column(uint64(c), plainCodes, 2)...)
			}
		}
		return p
	}
	extras := make([]any, MaxExtra+1)
	for i := range extras {
		extras[i] = []any{"x", "", ""}
	}
	hello := []any{1, "", "", "", "", "", "", 1, "", "", "", 1, []any{1, 1}, []any{}, map[string]any{}, "all", extras}
	big := []byte{0x80, 0x80, 0x80, 0x80, 0x40}
	for name, c := range map[string]struct {
		field, problem string
		data           []byte
	}{
		"submission without a task": {"submissions, column task", "missing", envelope(t, "d", submission(colTask, nil))},
		"flags":                     {"submissions, column flags", "too large", envelope(t, "d", submission(colFlags, column(colFlags, 0, 0x80, 0x80, 0x04)))},
		"thread":                    {"submissions, column thread", "too large", envelope(t, "d", submission(colThread, column(colThread, 0, big...)))},
		"site":                      {"submissions, column site", "too large", envelope(t, "d", append(submission(0, nil), column(colSite, 0, big...)...))},
		"executor":                  {"submissions, column executor", "cut short", envelope(t, "d", append(submission(0, nil), column(colExecutor, 0)...))},
		"creation's site":           {"creations, column site", "too large", envelope(t, "a", append(oneCreation(0, nil), column(colSite, 0, big...)...))},
		"column half":               {"submissions, column site", "cut short", envelope(t, "d", append(submission(0, nil), colSite))},
		"columns behind":            {"submissions, column site", "ascending", envelope(t, "d", append(submission(0, nil), column(colFlags, 0, 1)...))},
		"count":                     {"submissions, count", "limit", envelope(t, "d", []byte{1, 0xff, 0xff, 0xff, 0xff, 0x7f})},
		"constructions' count":      {"constructions, count", "limit", envelope(t, "b", []byte{1, 0xff, 0xff, 0xff, 0xff, 0x7f})},
		"constructions' ratio":      {"constructions, ratio", "cut short", envelope(t, "b", []byte{1, 1})},
		"work":                      {"executions, column work 0", "cut short", envelope(t, "e", append(oneExecution(), column(colWork, 0)...))},
		"executor id":               {"executors.id (entry 0)", "more than", envelope(t, "f", []any{[]any{1 << 32, "", ""}})},
		"executor short":            {"executors (entry 0)", "2 fields", envelope(t, "f", []any{[]any{1, ""}})},
		"site line":                 {"sites.line (entry 0)", "32 bits", envelope(t, "g", []any{[]any{1, "", "", "", 1 << 31}})},
		"extras":                    {"hello.extra", "limit", envelope(t, "h", hello)},
	} {
		b, err := Decode(c.data, DefaultLimits())
		var de *DecodeError
		if b != nil || !errors.As(err, &de) {
			t.Errorf("%s: batch %v, error %v", name, b, err)
		} else if de.Field != c.field || !strings.Contains(de.Problem, c.problem) {
			t.Errorf("%s: error %q, want field %q and problem %q", name, de, c.field, c.problem)
		}
	}
}

// oneExecution is a payload of one execution with the columns that must be there.
func oneExecution() []byte {
	p := []byte{payloadFormat, 1, 0}
	for c := uint64(colTask); c <= colChildCPU; c++ {
		p = append(p, column(c, plainCodes, 2)...)
	}
	return p
}

func TestEncodeRefusesWork(t *testing.T) {
	for name, change := range map[string]func(b *Batch){
		"short":            func(b *Batch) { b.ExecutionWork.Total[1] = b.ExecutionWork.Total[1][:1] },
		"nested short":     func(b *Batch) { b.ExecutionWork.Nested = b.ExecutionWork.Nested[:1] },
		"construction":     func(b *Batch) { b.ConstructionWork.Total[0] = nil },
		"no records":       func(b *Batch) { b.Executions = nil },
		"too many":         func(b *Batch) { b.ConstructionWork.Total = make([][]int64, MaxExtra+1) },
		"too many metrics": func(b *Batch) { b.Hello.Extra = make([]Extra, MaxExtra+1) },
	} {
		b := complete()
		change(b)
		if out, err := Encode(b, nil); err == nil || errors.Is(err, ErrTooMany) {
			t.Errorf("%s: %d bytes, error %v", name, len(out), err)
		}
	}
	for name, b := range map[string]*Batch{
		"submissions": {Session: "s", Seq: 1, Submissions: make([]Submission, MaxEvents+1)}, "constructions": {Session: "s", Seq: 1, Constructions: make([]Construction, MaxEvents+1)},
		"sites": {Session: "s", Seq: 1, Sites: make([]Site, MaxItems+1)}, "executors": {Session: "s", Seq: 1, Executors: make([]Executor, MaxItems+1)},
	} {
		if _, err := Encode(b, nil); !errors.Is(err, ErrTooMany) {
			t.Errorf("too many %s: %v", name, err)
		}
	}
}

func TestMetricsOfExtra(t *testing.T) {
	for k := range MaxExtra {
		for _, self := range []bool{false, true} {
			gotK, gotSelf, ok := MetricOfExtra(k, self).Extra()
			if gotK != k || gotSelf != self || !ok {
				t.Errorf("extra %d, self %v comes back as %d, %v, %v", k, self, gotK, gotSelf, ok)
			}
		}
	}
	for m := 0; m <= math.MaxUint8; m++ {
		_, _, ok := Metric(m).Extra()
		if want := m >= 16 && m < 32; ok != want {
			t.Errorf("metric %d as an extra one: %v", m, ok)
		}
	}
}

// What the columns cost: an execution with a count that varies, one that does
// not, a site and a queue time.
func TestBytesOfExtras(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := pool(20000, rng)
	b := empty()
	b.Executions = x
	before := len(mustEncode(t, b))
	b.ExecutionWork = Work{Total: make([][]int64, 2), Nested: make([][]int64, 2)}
	for i := range x {
		x[i].Site, x[i].Submitted = 1+uint32(i%7), x[i].Start-units.Ticks(rng.IntN(50_000))
		b.ExecutionWork.Total[0] = append(b.ExecutionWork.Total[0], int64(float64(x[i].End-x[i].Start)*1.3))
		b.ExecutionWork.Total[1] = append(b.ExecutionWork.Total[1], 48)
		for k := range 2 {
			b.ExecutionWork.Nested[k] = append(b.ExecutionWork.Nested[k], 0)
		}
	}
	per := float64(len(mustEncode(t, b))-before) / float64(len(x))
	t.Logf("%.2f bytes an execution more", per)
	if per > 8 {
		t.Errorf("%.2f bytes an execution more, want at most 8", per)
	}
}
