package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/store"
)

// A batch leaves the bus once it is stored, and an agent says only once who its JVM is and what its classes, executors
// and call sites are called. So that a shadow with a store of its own knows that of a session that it takes over, what was
// said stays on the bus as long as the session goes on: as batches without events, in a stream of its own. If one is
// lost, names are missing and no figure is wrong, so nobody waits for the bus to take them.
const (
	namesStream  = "STACKAGENT_NAMES"
	namesSubject = "stackagent.v1.names." // PROCESS, namesOfThreads or namesOfRest, and SESSION follow
	namesBytes   = 128 << 20              // the oldest go first

	namesOfThreads = "threads"
	namesOfRest    = "rest"

	// mostThreadNames bounds the descriptions of threads that a session leaves on the bus. Of one with more, none are
	// kept: a description that stays although a newer one is missing would say that a thread goes on that has ended.
	mostThreadNames = 10_000
	// mostNames bounds the rows that are read of one JVM: a shadow may be of another version, or a stranger.
	mostNames = 1 << 20
)

// openNames finds or makes the stream. On a bus of the shadow's own there is none: it ends with the shadow, and nobody
// could read them.
func (in *Ingest) openNames(ctx context.Context) {
	if !in.o.Bus.Joined() {
		return
	}
	js := in.o.Bus.JetStream()
	err := bus.Patiently(func() (err error) {
		if in.names, err = js.Stream(ctx, namesStream); !errors.Is(err, jetstream.ErrStreamNotFound) {
			return err
		}
		in.names, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: namesStream, Subjects: []string{namesSubject + ">"}, Description: "what JVMs said of themselves, for shadows that take sessions over",
			Storage: jetstream.FileStorage, Discard: jetstream.DiscardOld, MaxBytes: namesBytes, AllowDirect: true,
			Replicas: in.stream.CachedInfo().Config.Replicas,
		})
		return err
	})
	if err != nil {
		in.names = nil
		in.log.Warn("ingest: the bus keeps no names: of sessions that another shadow takes over, classes may be unknown", "stream", namesStream, "error", err)
	}
}

func (s sender) names(kind string) string {
	return namesSubject + s.process + "." + kind + "." + s.session
}

// keepNames puts what the part says of the JVM on the bus, before it is stored: none that is stored may be missing.
func (w *worker) keepNames() {
	if w.ingest.names == nil || w.from.process == "" {
		return
	}
	for _, h := range w.part {
		b := h.batch
		if b.Last {
			return
		}
		rest := wire.Batch{Version: b.Version, Session: b.Session, Process: b.Process, Seq: b.Seq}
		threads := rest
		addNames(&rest, b)
		rest.Totals.LostByThread = nil
		threads.Clock, threads.Totals = rest.Clock, rest.Totals
		threads.Threads, rest.Threads = slices.DeleteFunc(rest.Threads, func(t wire.Thread) bool { return t.Virtual }), nil
		w.keepThreadNames(&threads)
		if rest.Hello != nil || rowsOf(&rest) > 0 {
			w.publishNames(namesOfRest, &rest)
		}
	}
}

func (w *worker) keepThreadNames(b *wire.Batch) {
	before := w.threadNames
	w.threadNames += len(b.Threads)
	switch {
	case before > mostThreadNames || len(b.Threads) == 0:
	case w.threadNames > mostThreadNames:
		w.forgetNames(namesOfThreads)
	default:
		w.publishNames(namesOfThreads, b)
	}
}

func (w *worker) publishNames(kind string, b *wire.Batch) {
	data, err := wire.Encode(b, nil)
	if err == nil {
		err = w.ingest.o.Bus.Conn().Publish(w.from.names(kind), data)
	}
	if err != nil {
		w.ingest.log.Debug("ingest: keeping names on the bus", "session", w.name, "error", err)
	}
}

// forgetNames takes names of the JVM off the bus; kind "*": all.
func (w *worker) forgetNames(kind string) {
	if w.ingest.names == nil || w.from.process == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	if err := w.ingest.names.Purge(ctx, jetstream.WithPurgeSubject(w.from.names(kind))); err != nil {
		w.ingest.log.Debug("ingest: taking names off the bus", "session", w.name, "error", err)
	}
}

// recall reads what the JVM said to the shadows that had the session before, in stores of their own. first is the batch with
// which ours begins.
func (w *worker) recall(out *store.Writer, first uint64) {
	w.said = nil
	if w.ingest.names == nil || w.from.process == "" || len(w.source.lease.Elsewhere) == 0 || len(out.Manifest.Sequences) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	all, rows := wire.Batch{Session: w.from.session, Process: w.from.process, Seq: first - 1}, 0
	for next := uint64(1); rows < mostNames; {
		m, err := w.ingest.names.GetMsg(ctx, next, jetstream.WithGetMsgSubject(w.from.names("*")))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			w.ingest.log.Warn("ingest: reading the names of a session that another shadow had; some of its classes may be unknown", "session", w.name, "error", err)
			break
		}
		next = m.Sequence + 1
		b, err := wire.Decode(m.Data, wire.DefaultLimits())
		if err == nil {
			err = check(b, w.from)
		}
		if err != nil {
			w.ingest.log.Warn("ingest: names on the bus that no shadow put there", "session", w.name, "error", err)
			continue
		}
		rows += rowsOf(b)
		addNames(&all, b)
	}
	if rows == 0 && all.Hello == nil {
		return
	}
	w.ingest.o.checkService(all.Hello)
	if all.Hello != nil && out.Manifest.JVM.PID == 0 {
		describeJVM(&out.Manifest, all.Hello)
	}
	w.said = &all
}

// addNames adds what b says of the JVM.
func addNames(all, b *wire.Batch) {
	all.Clock, all.Totals = b.Clock, b.Totals
	if b.Hello != nil {
		all.Hello = b.Hello
	}
	all.Classes = append(all.Classes, b.Classes...)
	all.Threads = append(all.Threads, b.Threads...)
	all.Executors = append(all.Executors, b.Executors...)
	all.Sites = append(all.Sites, b.Sites...)
	all.Blockers = append(all.Blockers, b.Blockers...)
	all.InsideMonitors = append(all.InsideMonitors, b.InsideMonitors...)
	all.Contexts.Frames = append(all.Contexts.Frames, b.Contexts.Frames...)
	all.Contexts.Contexts = append(all.Contexts.Contexts, b.Contexts.Contexts...)
}
