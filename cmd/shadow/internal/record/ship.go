package record

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/hpc"
	"stackagent/internal/announce"
	"stackagent/internal/proc"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/collect/observe"
	"stackagent/shadow/store"
)

// ObserveVerb is how sessions name an observer.
const ObserveVerb = "shadow observe"

const (
	shipFirst    = time.Second // a session begins with its first batch
	shipEvery    = 2 * time.Second
	shipLook     = 100 * time.Millisecond // whether the JVM has ended
	shipRetry    = 10 * time.Second       // while the shadow does not answer
	shipPatience = time.Hour              // after a JVM's end, for a shadow that does not answer
	shipAtEnd    = 10 * time.Second       // when this observer ends
	shipCounters = 5                      // passes between counters of a JVM that runs
	maxShipped   = 4096                   // JVMs at once
	stateName    = "observation.json"
)

// A Shipper sends what a Watcher records of announced JVMs to the shadow that stores their sessions.
type Shipper struct {
	env   console.Env
	w     *Watcher
	conn  *nats.Conn
	work  string // a folder a JVM, named as its process
	ctx   context.Context
	stop  context.CancelFunc
	group sync.WaitGroup

	mu   sync.Mutex
	jvms map[string]*shipment // by wire.Batch.Process
}

// shipment is an observation whose files are sent. It is kept in a file beside them.
type shipment struct {
	JVM     announce.JVM `json:"jvm"`
	PID     int          `json:"pid"` // on this side
	ID      string       `json:"id"`
	FromNs  units.MonoNs `json:"from_ns"`
	UntilNs units.MonoNs `json:"until_ns"`

	dir  string
	live bool // the JVM is observed; else these are leftovers
}

// NewShipper sends from the folder work.
func NewShipper(env console.Env, w *Watcher, conn *nats.Conn, work string) *Shipper {
	ctx, stop := context.WithCancel(context.Background())
	return &Shipper{env: env, w: w, conn: conn, work: work, ctx: ctx, stop: stop, jvms: map[string]*shipment{}}
}

// Observed begins to record and send what is observed of a JVM.
func (s *Shipper) Observed(jvm announce.JVM, pid int) {
	x := &shipment{JVM: jvm, PID: pid, ID: newID(), FromNs: proc.Now(), dir: filepath.Join(s.work, jvm.Process), live: true}
	if old, err := readShipment(x.dir); err == nil { // this observer was started again
		x.ID, x.FromNs = old.ID, old.FromNs
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jvms[jvm.Process] != nil || len(s.jvms) >= maxShipped || s.ctx.Err() != nil {
		return
	}
	if err := x.keep(); err != nil {
		s.env.Note("not observing process %d: %s", pid, text.OneLine(err.Error()))
		return
	}
	s.jvms[jvm.Process] = x
	s.w.Progress(s.progress(x, store.EndedRunning))
	s.group.Go(func() { s.ship(x) })
}

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not fail: crypto/rand ends the process instead
	return hex.EncodeToString(b[:])
}

func (x *shipment) keep() error {
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return err
	}
	return hpc.WriteJSON(filepath.Join(x.dir, stateName), x)
}

func readShipment(dir string) (*shipment, error) {
	b, err := hpc.ReadSmall(filepath.Join(dir, stateName))
	if err != nil {
		return nil, err
	}
	x := shipment{dir: dir}
	if err := json.Unmarshal(b, &x); err != nil {
		return nil, err
	}
	if _, err := announce.ParseJVM(announce.Encode(x.JVM)); err != nil || x.JVM.Process != filepath.Base(dir) {
		return nil, errors.New("not of an observation")
	}
	return &x, nil
}

// progress is how a watcher learns of a session; its folder is the observation's.
func (s *Shipper) progress(x *shipment, ended string) ingest.Progress {
	return ingest.Progress{Session: x.JVM.Session, Process: x.JVM.Process, Folder: x.JVM.Process, Ended: ended,
		JVM: store.JVM{PID: x.JVM.PID, Host: s.w.Finder.Host, HostID: x.JVM.HostID}}
}

// Leftovers sends what an observer before this one had not sent. A JVM that still runs announces itself again.
func (s *Shipper) Leftovers() {
	dirs, _ := filepath.Glob(filepath.Join(s.work, "*", stateName))
	for _, path := range dirs {
		x, err := readShipment(filepath.Dir(path))
		if err != nil || x.alive() {
			continue
		}
		s.mu.Lock()
		if s.jvms[x.JVM.Process] == nil {
			s.jvms[x.JVM.Process] = x
			s.group.Go(func() { s.ship(x) })
		}
		s.mu.Unlock()
	}
}

// ship sends until the JVM has ended and everything is sent, and removes the files. When this observer ends it sends what
// there is; the files stay for the one that is started next.
func (s *Shipper) ship(x *shipment) {
	defer s.leave(x)
	to := observe.NewSender(s.conn, x.dir, observe.Piece{Session: x.JVM.Session, Process: x.JVM.Process, HostID: x.JVM.HostID, PID: x.JVM.PID,
		ID: x.ID, By: ObserveVerb, Host: s.w.Finder.Host, LoadedNs: x.JVM.LoadedNs, FromNs: x.FromNs})
	overAt, failures := time.Time{}, 0
	s.pause(x, shipFirst, true)
	for pass := 0; s.ctx.Err() == nil; pass++ {
		if overAt.IsZero() && s.over(x) {
			overAt = time.Now()
			s.finish(x)
		}
		over := !overAt.IsZero()
		err := s.send(s.ctx, to, x, over, over || pass%shipCounters == 0)
		if errors.Is(err, observe.ErrRefused) || over && (err == nil || time.Since(overAt) > shipPatience) {
			s.done(x, err)
			return
		}
		if failures++; err == nil {
			failures = 0
		}
		s.pause(x, min(shipEvery<<min(failures, 4), shipRetry), err == nil)
	}
	ctx, cancel := context.WithTimeout(context.Background(), shipAtEnd)
	defer cancel()
	_ = s.send(ctx, to, x, false, true)
}

// over reports whether nothing more can be observed.
func (s *Shipper) over(x *shipment) bool {
	return !x.live || !x.alive() && s.w.ended(x.JVM.Process)
}

// alive reports whether the JVM runs. Its number may be another process's by now.
func (x *shipment) alive() bool {
	stat, err := proc.Process(x.PID).Stat()
	return err == nil && stat.Start == x.JVM.StartTicks && proc.Alive(x.PID)
}

// send sends what is new.
func (s *Shipper) send(ctx context.Context, to *observe.Sender, x *shipment, over, counters bool) error {
	if x.live {
		x.UntilNs = proc.Now()
		_ = x.keep() // for an observer that is started again: without it that one sends less
		if counters {
			_ = s.w.Write(x.JVM.Process, x.dir) // the next pass writes it again
		}
	}
	return to.Send(ctx, observe.Piece{UntilNs: x.UntilNs, Complete: over && x.live})
}

// finish ends the records of a JVM that has ended.
func (s *Shipper) finish(x *shipment) {
	if !x.live {
		return
	}
	if err := s.w.Switches.Finish(x.PID); err != nil {
		s.env.Note("scheduling record of process %d: %s", x.PID, text.OneLine(err.Error()))
	}
	s.w.Progress(s.progress(x, store.EndedExit))
}

// pause waits for the next pass; if look, until the JVM has ended at most.
func (s *Shipper) pause(x *shipment, wait time.Duration, look bool) {
	for end := time.Now().Add(wait); time.Now().Before(end); {
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(shipLook):
		}
		if look && s.over(x) {
			return
		}
	}
}

// done removes what is sent, or is not wanted.
func (s *Shipper) done(x *shipment, err error) {
	if err != nil {
		s.env.Note("what was observed of process %d is dropped: %s", x.PID, text.OneLine(err.Error()))
		s.finish(x) // it may still run: nobody wants to see more of it
	}
	s.w.forgetSession(x.JVM.Process)
	_ = os.RemoveAll(x.dir) // else the next observer removes it
}

func (s *Shipper) leave(x *shipment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jvms, x.JVM.Process)
}

// End sends what there is and ends.
func (s *Shipper) End() {
	s.stop()
	s.group.Wait()
}
