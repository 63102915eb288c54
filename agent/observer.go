package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/agent/options"
	"stackagent/internal/announce"
	"stackagent/internal/spool"
	"stackagent/internal/units"
	"stackagent/jvmti"
)

const (
	observerWait  = 100 * time.Millisecond // of the program's start, where an observer answered before
	answerWait    = 2 * time.Second        // for the answer itself, which holds up nothing
	announceAgain = time.Second            // after an announcement that none answered; then after twice as long
	announceEvery = time.Minute            // at the latest: an observer that starts later, or again, learns of the JVM by then
)

// announcer announces this JVM to the observers of its host. The program waits for the first answer only if an observer
// answered an earlier JVM, and then for observerWait at most: whatever happens here, it runs.
type announcer struct {
	jvm    announce.JVM
	marker string          // the file that says that an observer answered; "": none can be kept
	links  chan *nats.Conn // the latest connection to the bus; nil: there is none
	stop   context.CancelFunc
}

// announce begins to announce the JVM, and makes its program wait if that is worth it. nil: the JVM is not announced.
func (a *Agent) announce() *announcer {
	if a.options.Observer.Off {
		return nil
	}
	jvm, err := announce.Self(a.options.Session, a.process, jvmti.Clock().Mono)
	if err != nil { // a system without /proc has no observers
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	n := &announcer{jvm: jvm, marker: a.observerMarker(), links: make(chan *nats.Conn, 1), stop: stop}
	wait := a.options.Observer.Wait
	if _, err := os.Lstat(n.marker); wait == 0 && err == nil {
		wait = observerWait
	}
	if wait > 0 {
		jvmti.ExpectObserver(wait)
	}
	go n.run(ctx)
	return n
}

// observerMarker is the file that exists while the observer of a bus answers: beside the spool file, which is where
// the agent may write.
func (a *Agent) observerMarker() string {
	if a.options.Spool == options.SpoolOff {
		return ""
	}
	h := fnv.New64a()
	h.Write([]byte(a.options.Bus))
	return filepath.Join(cmp.Or(a.options.Spool, spool.DefaultFolder()), fmt.Sprintf("observer-%016x", h.Sum64()))
}

// link takes a new connection, or nil when there is none. It never waits.
func (n *announcer) link(conn *nats.Conn) {
	for {
		select {
		case n.links <- conn:
			return
		default:
		}
		select {
		case <-n.links:
		default:
		}
	}
}

func (n *announcer) run(ctx context.Context) {
	defer jvmti.ReleaseProgram()
	defer func() { _ = recover() }() // a panic must not end the program
	var conn *nats.Conn
	for pause := announceAgain; ; {
		select {
		case <-ctx.Done():
			return
		case conn = <-n.links:
			pause = announceAgain
		case <-time.After(pause):
			pause = min(2*pause, announceEvery)
		}
		if conn != nil {
			observed, sure := n.ask(ctx, conn)
			n.remember(observed, sure)
			if observed {
				pause = announceEvery
			}
		}
		jvmti.ReleaseProgram() // answered, or there is nobody to wait for
	}
}

// ask announces the JVM and reports whether it is observed. sure: an observer said so, or none did in time.
func (n *announcer) ask(ctx context.Context, conn *nats.Conn) (observed, sure bool) {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	m, err := conn.RequestWithContext(ctx, announce.Subject(n.jvm.HostID), announce.Encode(n.jvm))
	if err != nil {
		return false, errors.Is(err, nats.ErrNoResponders) || errors.Is(err, context.DeadlineExceeded)
	}
	_, err = announce.ParseAnswer(m.Data)
	return err == nil, true
}

// remember keeps for later JVMs whether an observer answered. Without a place for that they do not wait.
func (n *announcer) remember(observed, sure bool) {
	switch {
	case n.marker == "" || !sure:
	case !observed:
		_ = os.Remove(n.marker)
	case spool.Prepare(filepath.Dir(n.marker)) == nil:
		if f, err := os.OpenFile(n.marker, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			f.Close()
		}
	}
}

// waited is what the JVM's description says of the announcement; "": there is none.
func (n *announcer) waited() (hostID string, waited units.Ns) {
	if n == nil {
		return "", 0
	}
	return n.jvm.HostID, units.Ns(jvmti.ObserverWaited())
}

// end stops announcing.
func (n *announcer) end() {
	if n != nil {
		n.stop()
	}
}
