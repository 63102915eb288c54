// Package client sends what agents would send: simulated JVMs, of which one machine bears more than of real ones.
package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"

	"stackagent/internal/busauth"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// Load is what each JVM sends.
type Load struct {
	URL       string
	Auth      busauth.Auth
	JVMs      int
	PerSecond int // executions of a JVM
	// Every is the time between the batches of a JVM.
	Every time.Duration
	For   time.Duration
}

const (
	classes = 3
	threads = 8
)

// Run sends it, and returns the number of executions that were sent. The JVMs' batches are spread over the time between two of them.
func Run(ctx context.Context, l Load) (sent uint64, err error) {
	options, err := l.Auth.Options()
	if err != nil {
		return 0, err
	}
	conn, err := nats.Connect(l.URL, options...)
	if err != nil {
		return 0, fmt.Errorf("connecting simulated JVMs: %w", err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return 0, fmt.Errorf("connecting simulated JVMs: %w", err)
	}
	var all sync.WaitGroup
	counts, failed := make([]uint64, l.JVMs), make([]error, l.JVMs)
	for i := range l.JVMs {
		all.Go(func() {
			time.Sleep(l.Every * time.Duration(i) / time.Duration(l.JVMs))
			counts[i], failed[i] = jvm{l, js, Session(i), uint64(l.PerSecond) * uint64(l.Every) / uint64(time.Second)}.run(ctx)
		})
	}
	all.Wait()
	for _, n := range counts {
		sent += n
	}
	return sent, errors.Join(failed...)
}

// Session is the name of the i-th JVM's session.
func Session(i int) string { return fmt.Sprintf("simulated-%d-%d", os.Getpid(), i) }

type jvm struct {
	Load
	js      jetstream.JetStream
	session string
	each    uint64 // executions of a batch
}

func now() wire.ClockPair {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // cannot fail
	return wire.ClockPair{Ticks: units.Ticks(t.Nano()), Mono: units.MonoNs(t.Nano())}
}

func (j jvm) run(ctx context.Context) (sent uint64, err error) {
	start := now()
	tick := time.NewTicker(j.Every)
	defer tick.Stop()
	batches := uint64(j.For / j.Every)
	for seq := uint64(1); seq <= batches; seq++ {
		select {
		case <-ctx.Done():
			return sent, ctx.Err()
		case <-tick.C:
		}
		b := j.batch(seq, start)
		b.Last = seq == batches
		data, err := wire.Encode(b, nil)
		if err != nil {
			return sent, fmt.Errorf("a batch of a simulated JVM: %w", err)
		}
		if _, err := j.js.Publish(ctx, wire.Subject(j.session), data); err != nil {
			return sent, fmt.Errorf("sending a batch of a simulated JVM: %w", err)
		}
		sent += j.each
	}
	return sent, nil
}

// batch is the seq-th batch: executions of the time since the one before, each of a task of its own that was created at its start.
func (j jvm) batch(seq uint64, start wire.ClockPair) *wire.Batch {
	at := now()
	b := &wire.Batch{Version: wire.Version, Session: j.session, Seq: seq, Clock: at}
	if seq == 1 {
		b.Hello = &wire.Hello{PID: 1, Host: "simulated", JVMVersion: "25", MainClass: "Simulated", GC: "G1", CPUs: 2, ClockName: "monotonic",
			WallUnixNs: time.Now().UnixNano(), StartClock: start, Metrics: []string{"wall", "cpu"}, Detail: "all"}
		for c := range uint32(classes) {
			b.Classes = append(b.Classes, wire.Class{ID: c + 1, Name: fmt.Sprintf("simulated.Task%d", c)})
		}
		for t := range uint32(threads) {
			b.Threads = append(b.Threads, wire.Thread{ID: t + 1, Name: fmt.Sprintf("worker-%d", t)})
		}
	}
	first := uint64(at.Ticks) - uint64(j.Every)
	step := uint64(j.Every) / j.each
	for i := range j.each {
		id, from := (seq-1)*j.each+i+1, units.Ticks(first+i*step)
		class, thread := uint32(1+id%classes), uint32(1+id%threads)
		b.Creations = append(b.Creations, wire.Creation{TaskID: id, Class: class, Thread: thread, At: from})
		b.Executions = append(b.Executions, wire.Execution{TaskID: id, Class: class, Thread: thread, Start: from, End: from + units.Ticks(step/2+id*7919%1000), CPU: 200})
	}
	b.Totals.Executions, b.Totals.Creations = seq*j.each, seq*j.each
	return b
}
