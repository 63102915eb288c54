package live

import (
	"context"
	"fmt"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

const (
	benchBatches = 64
	benchTasks   = 4 << 10 // a batch; each has a creation, two submissions and two executions
	benchEvents  = 5 * benchTasks
)

// benchProgram makes the batches of a program that submits callables to a pool.
func benchProgram(tb testing.TB) [][]byte {
	var all [][]byte
	p := newProgram(tb)
	for i := range benchBatches {
		b := p.batch()
		from := 1 + float64(i)
		for k := range benchTasks {
			at := from + float64(k)/(benchTasks+1)
			task, future := p.submit(jobClass, at, true)
			b.Creations = append(b.Creations, wire.Creation{TaskID: task, Class: jobClass, Thread: mainThread, At: tick(at), Site: jobSite})
			p.run(task, future, jobClass, worker1+uint32(k%2), at, at+1e-5, at+2e-4)
		}
		b.Seq, b.Clock = uint64(i+1), wire.ClockPair{Ticks: tick(from + 1), Mono: units.MonoNs(tick(from + 1))}
		if i == 0 {
			b.Hello = &wire.Hello{PID: 1, StartClock: wire.ClockPair{Ticks: start, Mono: start}, CPUs: 4}
			b.Classes = []wire.Class{{ID: jobClass, Name: "com.acme.Job", Kinds: units.KindCallable},
				{ID: futureClass, Name: "java.util.concurrent.FutureTask", Kinds: units.KindRunnable | units.KindJDK}}
			b.Threads = []wire.Thread{{ID: worker1, Name: "w-1", Executor: pool}, {ID: worker1 + 1, Name: "w-2", Executor: pool}}
			b.Executors = []wire.Executor{{ID: pool, Class: "P"}}
		}
		b.Totals.Executions, b.Totals.Creations = uint64(2*benchTasks*(i+1)), uint64(benchTasks*(i+1))
		b.Last = i == benchBatches-1
		data, err := wire.Encode(b, nil)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, data)
		p.b = nil
	}
	return all
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFeed is the cost of the live view for batches that are decoded.
func BenchmarkFeed(b *testing.B) {
	var batches []*wire.Batch
	for _, data := range benchProgram(b) {
		x, err := wire.Decode(data, wire.DefaultLimits())
		if err != nil {
			b.Fatal(err)
		}
		batches = append(batches, x)
	}
	b.ReportAllocs()
	cpu := -cpuTime(b)
	for b.Loop() {
		l := New(Options{})
		l.Begin("s", &store.Manifest{}, nil)
		for _, x := range batches {
			l.Batch("s", x, false)
		}
		if n := l.JVM("s").Totals.Finished; n != benchBatches*benchTasks {
			b.Fatalf("%v tasks ended", n)
		}
	}
	cpu += cpuTime(b)
	b.ReportMetric(float64(cpu.Nanoseconds())/(benchBatches*benchEvents*float64(b.N)), "CPU-ns/event")
}

// BenchmarkIngest is the cost of storing the same batches, from the bus to the disk, without and with the live view.
func BenchmarkIngest(b *testing.B) {
	data := benchProgram(b)
	for _, follow := range []bool{false, true} {
		b.Run(fmt.Sprintf("live=%v", follow), func(b *testing.B) {
			var cpu time.Duration
			for range b.N {
				cpu += ingestOnce(b, data, follow)
			}
			b.ReportMetric(float64(cpu.Nanoseconds())/(benchBatches*benchEvents*float64(b.N)), "CPU-ns/event")
		})
	}
}

func ingestOnce(b *testing.B, data [][]byte, follow bool) time.Duration {
	x, err := bus.Start(bus.Options{Listen: "127.0.0.1:0", StoreDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for _, d := range data {
		if _, err := x.JetStream().Publish(ctx, wire.Subject("s"), d); err != nil {
			b.Fatal(err)
		}
	}
	o := ingest.Options{Bus: x, Root: b.TempDir(), Logger: slog.New(slog.DiscardHandler)}
	var l *Live
	if follow {
		l = New(Options{})
		o.Follower = l
	}
	cpu := -cpuTime(b)
	in, err := ingest.Start(ctx, o)
	if err != nil {
		b.Fatal(err)
	}
	if err := in.Drain(ctx); err != nil {
		b.Fatal(err)
	}
	if err := in.Close(store.EndedClosed); err != nil {
		b.Fatal(err)
	}
	cpu += cpuTime(b)
	if p := in.Sessions(); len(p) != 1 || p[0].Stored.Executions != 2*benchBatches*benchTasks {
		b.Fatalf("stored: %+v", p)
	}
	if follow {
		if v := l.JVM("s"); v.Totals.Finished+v.Row.NotShown < benchBatches*benchTasks {
			b.Fatalf("shown: %+v", v.Totals)
		}
		b.ReportMetric(l.JVM("s").Row.NotShown, "not-shown")
	}
	return cpu
}
