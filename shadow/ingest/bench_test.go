package ingest

import (
	"log/slog"
	"testing"

	"stackagent/internal/wire"
	"stackagent/shadow/bus"
	"stackagent/shadow/store"
)

// BenchmarkIngest measures the way from a published batch to a stored row:
// server, decoding, order, clock, Parquet, fsync, acknowledgement.
func BenchmarkIngest(b *testing.B) {
	const batches, per = 64, 16 << 10
	x, err := bus.Start(bus.Options{Listen: "127.0.0.1:0", StoreDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
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
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		for _, d := range data {
			publish(b, x, wire.Subject("bench"), d, "")
		}
		root := b.TempDir()
		b.StartTimer()
		in := startIngest(b, Options{Bus: x, Root: root, Logger: slog.New(slog.DiscardHandler)})
		drain(b, in)
		if err := in.Close(store.EndedClosed); err != nil {
			b.Fatal(err)
		}
		if p := in.Sessions(); len(p) != 1 || p[0].Stored.Executions != batches*per || p[0].Lost.Events != 0 {
			b.Fatalf("stored: %+v", p)
		}
	}
	b.ReportMetric(batches*per*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mexecutions/s")
}
