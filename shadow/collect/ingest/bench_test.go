package ingest

import (
	"log/slog"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/store"
)

// BenchmarkIngest measures the way from a published batch to a stored row:
// server, decoding, order, clock, Parquet, fsync, acknowledgement.
func BenchmarkIngest(b *testing.B) {
	const batches, per = 64, 16 << 10
	var data [][]byte
	id := uint64(0)
	for i := range batches {
		at := int64(i+1) * 10_000_000
		y := &wire.Batch{Version: wire.Version, Session: "bench", Seq: uint64(i + 1), Clock: pairAt(at), Last: i == batches-1}
		if i == 0 {
			y.Hello = &wire.Hello{PID: 1, StartClock: pairAt(0)}
		}
		for k := range per {
			id++
			start := at - 9_900_000 + int64(k)*600
			y.Executions = append(y.Executions, wire.Execution{
				TaskID: id, Class: uint32(1 + id%3), Thread: 1, Start: bentClock(start), End: bentClock(start + 300 + int64(id*7919%200)), CPU: 200,
			})
		}
		y.Totals.Executions = id
		data = append(data, encode(b, y))
	}
	var cpu time.Duration
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		x, err := bus.Start(bus.Options{Listen: "127.0.0.1:0", StoreDir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		for _, d := range data {
			publish(b, x, wire.Subject("bench"), d, "")
		}
		root := b.TempDir()
		cpu -= cpuTime(b)
		b.StartTimer()
		in := startIngest(b, Options{Bus: x, Root: root, Logger: slog.New(slog.DiscardHandler)})
		drain(b, in)
		if err := in.Close(store.EndedClosed); err != nil {
			b.Fatal(err)
		}
		if p := in.Sessions(); len(p) != 1 || p[0].Stored.Executions != batches*per || p[0].Lost.Events != 0 {
			b.Fatalf("stored: %+v", p)
		}
		b.StopTimer()
		cpu += cpuTime(b)
		x.Close()
		b.StartTimer()
	}
	// Beside others on the machine, CPU time says more than wall time.
	b.ReportMetric(float64(cpu.Nanoseconds())/(batches*per*float64(b.N)), "CPU-ns/execution")
	b.ReportMetric(batches*per*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mexecutions/s")
}

// cpuTime is what this process has used so far, by getrusage.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
