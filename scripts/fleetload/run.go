package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/busauth"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/store"
)

// run replays the plan and prints what the shadows used.
func (p *plan) run(ctx context.Context) error {
	batches, bytes, err := read(p.file)
	if err != nil {
		return err
	}
	dir := p.dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "fleetload"); err != nil {
			return err
		}
	}
	if !p.keep {
		defer os.RemoveAll(dir)
	}
	fmt.Printf("replaying %d batches of one JVM, %d bytes on average, as %d JVMs of %d services, one each %v\n",
		len(batches), bytes/len(batches), p.sessions, p.services, p.every)
	shadows, auth, err := p.start(ctx, dir)
	if err != nil {
		return err
	}
	defer func() {
		for _, x := range shadows {
			_ = x.stop()
		}
	}()
	s, err := newSender(p, shadows[0].bus, auth, batches)
	if err != nil {
		return err
	}
	defer s.close()
	w := watch(shadows)
	begin := time.Now()
	if err := s.run(ctx, p); err != nil {
		return err
	}
	sending := time.Since(begin)
	samples := w.end()
	s.close()
	p.report(s, samples, sending)
	ending := time.Now()
	for _, x := range shadows {
		end := x.stop
		if p.kill {
			end = x.kill
		}
		if err := end(); err != nil {
			return fmt.Errorf("the shadow: %w", err)
		}
	}
	fmt.Printf("ended within %.1f s\n", time.Since(ending).Seconds())
	return p.check(s, shadows)
}

// start starts the shadows, the first of which has the bus.
func (p *plan) start(ctx context.Context, dir string) (all []*process, auth []nats.Option, err error) {
	extra := strings.Fields(p.serve)
	for i := range p.shadows {
		args := append([]string{"--listen", "127.0.0.1:0"}, extra...)
		if i > 0 {
			args = append([]string{"--nats", all[0].bus, "--nkey", filepath.Join(all[0].store, ".keys", "shadow.nk")}, extra...)
		}
		x, err := startShadow(ctx, p.shadow, filepath.Join(dir, fmt.Sprint("shadow", i+1)), args...)
		if err != nil {
			return all, nil, err
		}
		all = append(all, x)
	}
	a := busauth.Auth{Owner: busauth.AnyOwner}
	if err := a.SetToken(filepath.Join(all[0].store, "token")); err != nil {
		return all, nil, err
	}
	auth, err = a.Options()
	return all, auth, err
}

// watcher takes a sample of all shadows each second.
type watcher struct {
	stop, done chan struct{}
	samples    []sample
}

func watch(shadows []*process) *watcher {
	w := &watcher{stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			var sum sample
			for _, x := range shadows {
				if s, err := x.sample(); err == nil {
					sum.add(s)
				}
			}
			w.samples = append(w.samples, sum)
			select {
			case <-w.stop:
				return
			case <-tick.C:
			}
		}
	}()
	return w
}

func (w *watcher) end() []sample {
	close(w.stop)
	<-w.done
	return w.samples
}

// report prints the figures: of the whole run, and of its second half, when all sessions are open.
func (p *plan) report(s *sender, list []sample, sending time.Duration) {
	if len(list) < 4 {
		return
	}
	first, mid, last := list[0], list[len(list)/2], list[len(list)-1]
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	line("sent", "%d batches, %d bytes each, in %.0f s", s.sent(), s.bytes/int64(max(s.sent(), 1)), sending.Seconds())
	line("acknowledged", "%d, failed %d; after %v (median), %v (99 %%); sender stalled %d times, late by %v at most", s.acked.Load(), s.failed.Load(),
		s.waited(.5).Round(100*time.Microsecond), s.waited(.99).Round(100*time.Microsecond), s.stalls, s.late.Round(time.Millisecond))
	open := time.Duration(-1)
	for _, x := range list {
		if int(x.running) >= p.sessions {
			open = x.at.Sub(first.at)
			break
		}
	}
	if open >= 0 {
		line("all open", "after %.0f s; they started within %.0f s", open.Seconds(), p.open.Seconds())
	} else {
		line("open at the end", "%.0f of %d, waiting %.0f", last.running, p.sessions, last.waiting)
	}
	took := last.at.Sub(mid.at)
	messages := last.batches - mid.batches
	line("second half", "%.0f messages/s stored or held", messages/took.Seconds())
	line("CPU, second half", "%.2f cores, %.2f ms a message", (last.cpu-mid.cpu).Seconds()/took.Seconds(), (last.cpu-mid.cpu).Seconds()*1e3/max(messages, 1))
	line("CPU, first half", "%.2f cores", (mid.cpu-first.cpu).Seconds()/mid.at.Sub(first.at).Seconds())
	most := sample{}
	for _, x := range list {
		most.rss, most.heap, most.goroutines = max(most.rss, x.rss), max(most.heap, x.heap), max(most.goroutines, x.goroutines)
	}
	n := float64(p.sessions)
	line("memory", "%.0f MiB resident at most, %.0f when empty: %.0f KiB a session", float64(most.rss)/(1<<20), float64(first.rss)/(1<<20), float64(most.rss-first.rss)/n/1024)
	line("heap in use", "%.0f MiB at most, %.0f when empty: %.0f KiB a session", most.heap/(1<<20), first.heap/(1<<20), (most.heap-first.heap)/n/1024)
	line("goroutines", "%.0f at most, %.0f when empty: %.1f a session", most.goroutines, first.goroutines, (most.goroutines-first.goroutines)/n)
	line("written to disk", "%.1f MB/s in the second half", float64(last.written-mid.written)/took.Seconds()/1e6)
	t.Flush()
}

// left counts by session what is on the bus.
func (p *plan) left(x *process) (map[string]int, error) {
	o := bus.Options{Listen: "127.0.0.1:0", StoreDir: filepath.Join(x.store, ".bus"), NoAuth: true}
	b, err := bus.Start(o)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stream, err := b.JetStream().Stream(ctx, bus.Stream)
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(bus.Subjects))
	if err != nil {
		return nil, err
	}
	left := map[string]int{}
	for subject, n := range info.State.Subjects {
		left[strings.TrimPrefix(subject, wire.Subject(""))] = int(n)
	}
	return left, nil
}

// check finds each acknowledged batch once in the store; what is left on a bus is none of these.
func (p *plan) check(s *sender, shadows []*process) error {
	missing, again, stored, bytes, files, sessions := 0, 0, 0, int64(0), 0, 0
	left, err := p.left(shadows[0])
	if err != nil {
		return err
	}
	for _, j := range s.jvms {
		if j.sent == 0 {
			continue
		}
		n, executions := uint64(0), uint64(0)
		for _, x := range shadows {
			dir := filepath.Join(x.store, j.session)
			if _, err := os.Lstat(filepath.Join(dir, store.ManifestName)); errors.Is(err, os.ErrNotExist) {
				continue
			}
			m, err := store.ReadManifest(dir)
			if err != nil {
				return err
			}
			sessions++
			n += m.Sequences.Count()
			executions += m.Stored.Executions
			files += len(m.Files)
			for _, f := range m.Files {
				bytes += f.Bytes
			}
		}
		stored += int(n)
		// A batch may be stored and still be on the bus: its acknowledgement came too late for the end.
		missing += max(0, j.sent-int(n)-left[j.session])
		again += max(0, int(n)+left[j.session]-j.sent)
		if int(n) == j.sent {
			want := uint64(0)
			for _, b := range s.batches[:j.sent] {
				want += uint64(len(b.Executions))
				for i := range b.Summaries {
					want += b.Summaries[i].Executions
				}
			}
			if executions != want {
				return fmt.Errorf("session %s: %d executions are stored, want %d", j.session, executions, want)
			}
		}
	}
	waiting := 0
	for _, n := range left {
		waiting += n
	}
	fmt.Printf("stored %d batches of %d sessions, %d files of %d bytes in all; on the bus for the next shadow: %d, of which %d are stored\n", stored, sessions, files, bytes, waiting, again)
	if missing > 0 {
		return fmt.Errorf("%d acknowledged batches are neither stored nor on the bus", missing)
	}
	return nil
}
