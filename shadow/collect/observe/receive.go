package observe

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"

	"stackagent/internal/text"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// Bounds of what observers may make a shadow hold.
const (
	maxSessions     = 16 << 10
	maxSessionBytes = 16 << 30
	maxWaiting      = 4096 // messages that wait; more are dropped, and their observers send again
)

// ErrOther is the refusal of an observation of a session that another observer has.
var ErrOther = errors.New("another observer has this session")

// ErrUnknown is a piece of a session that this shadow does not store.
var ErrUnknown = errors.New("not a session of this shadow")

// Receiver stores what observers send of this shadow's sessions.
type Receiver struct {
	root string
	own  func(folder, process string) bool // this shadow observes the session's JVM itself
	note func(format string, args ...any)
	sub  *nats.Subscription

	mu       sync.Mutex
	sessions map[string]*observed // by wire.Batch.Process
	order    []string             // of sessions, oldest first
}

// observed is a session of this shadow.
type observed struct {
	session, folder, hostID string
	pid                     int
	bytes                   int64 // received; only for take
}

// Receive begins to store, in the sessions' folders below root.
func Receive(conn *nats.Conn, root string, own func(folder, process string) bool, note func(string, ...any)) (*Receiver, error) {
	r := &Receiver{root: root, own: own, note: note, sessions: map[string]*observed{}}
	var err error
	if r.sub, err = conn.Subscribe(bus.Observed+">", r.receive); err == nil {
		err = r.sub.SetPendingLimits(maxWaiting, -1)
	}
	if err == nil {
		err = conn.Flush() // the server knows of the subscription before an observer asks
	}
	if err != nil {
		return nil, fmt.Errorf("hearing of observers: %w", err)
	}
	return r, nil
}

// Progress learns of a session.
func (r *Receiver) Progress(p ingest.Progress) {
	if r == nil || p.JVM.HostID == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.know(p.Process, &observed{session: p.Session, folder: p.Folder, hostID: p.JVM.HostID, pid: p.JVM.PID})
}

// know remembers a session, once. It needs r.mu.
func (r *Receiver) know(process string, o *observed) *observed {
	if old := r.sessions[process]; old != nil && old.folder == o.folder {
		return old
	}
	r.sessions[process] = o
	if r.order = append(r.order, process); len(r.order) > maxSessions {
		delete(r.sessions, r.order[0])
		r.order = r.order[1:]
	}
	return o
}

// Close ends receiving.
func (r *Receiver) Close() {
	if r != nil {
		_ = r.sub.Unsubscribe()
	}
}

// receive answers a message of an observer, unless the session is another shadow's.
func (r *Receiver) receive(m *nats.Msg) {
	if !strings.HasPrefix(m.Reply, "_INBOX.") { // an answer elsewhere would be this shadow's word, with its rights
		return
	}
	p, err := ParsePiece(m.Data)
	if err == nil && m.Subject != bus.Observed+p.Session {
		err = fmt.Errorf("%w: it came on another session's subject", ErrPiece)
	}
	a := Ack{Version: Version}
	if err == nil {
		a.Have, err = r.take(p)
	}
	switch {
	case errors.Is(err, ErrUnknown):
		return
	case errors.Is(err, ErrPiece), errors.Is(err, ErrOther):
		a.Refused = cut(text.OneLine(err.Error()), maxRefusal)
	case err != nil: // of this machine: the observer sends it again
		r.note("storing what was observed of session %s: %w", p.Session, err)
		return
	}
	answer, _ := json.Marshal(a)
	_ = m.Respond(answer)
}

func cut(s string, most int) string { return s[:min(len(s), most)] }

// take stores a piece and returns how much of its file is stored. Only one runs at a time: it is called by the subscription.
func (r *Receiver) take(p Piece) (have int64, err error) {
	r.mu.Lock()
	o := r.sessions[p.Process]
	r.mu.Unlock()
	if o == nil {
		if o = r.find(p); o == nil {
			return 0, ErrUnknown
		}
	}
	switch {
	case o.session != p.Session || o.hostID != p.HostID || o.pid != p.PID:
		return 0, fmt.Errorf("%w: the session's JVM was announced otherwise", ErrPiece)
	case r.own(o.folder, p.Process):
		return 0, fmt.Errorf("%w: this shadow", ErrOther)
	case o.bytes > maxSessionBytes:
		return 0, fmt.Errorf("%w: it is too much for one session", ErrPiece)
	}
	dir := filepath.Join(r.root, o.folder)
	before, err := store.ReadObserved(dir)
	if err == nil && before != nil && before.ID != "" && before.ID != p.ID {
		return 0, fmt.Errorf("%w: %s on %s", ErrOther, before.By, before.Host)
	}
	have = p.Size
	if p.Name != "" {
		o.bytes += int64(len(p.Data))
		if have, err = write(dir, p); err != nil || have < p.Size {
			return have, err
		}
	}
	is := store.Observed{Process: p.Process, By: p.By, Host: p.Host, ID: p.ID, LoadedNs: p.LoadedNs, FromNs: p.FromNs, UntilNs: p.UntilNs, Complete: p.Complete}
	return have, is.Write(dir, sealed...)
}

// sealed are the files whose checksums are kept. The two records hold those of their parts.
var sealed = []string{"counters.json", "sched/record.json", "monitors/record.json"}

// maxNamesakes bounds the folders of one session name that are looked through.
const maxNamesakes = 20

// find looks for a session that this shadow stored before it was started again.
func (r *Receiver) find(p Piece) *observed {
	for n := 1; n <= maxNamesakes; n++ {
		folder := p.Session
		if n > 1 {
			folder = fmt.Sprintf("%s-%d", p.Session, n)
		}
		m, err := store.ReadManifest(filepath.Join(r.root, folder))
		if err != nil {
			return nil
		}
		if m.Session == p.Session && m.Process == p.Process && m.JVM.HostID != "" {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.know(p.Process, &observed{session: m.Session, folder: folder, hostID: m.JVM.HostID, pid: m.JVM.PID})
		}
	}
	return nil
}

// write appends a piece to its file, which gets its name when it is whole.
func write(dir string, p Piece) (have int64, err error) {
	path := filepath.Join(dir, filepath.FromSlash(p.Name))
	tmp := filepath.Join(dir, ".observed-"+strings.ReplaceAll(p.Name, "/", "-"))
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return 0, err
	}
	flags := os.O_WRONLY | os.O_CREATE | unix.O_NOFOLLOW
	if p.Offset == 0 {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(tmp, flags, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is no file", tmp)
	}
	if have = info.Size(); have != p.Offset { // a piece before this one is missing, or this one came twice
		return have, nil
	}
	if _, err := f.WriteAt(p.Data, p.Offset); err != nil {
		return 0, err
	}
	if have += int64(len(p.Data)); have < p.Size {
		return have, nil
	}
	return have, os.Rename(tmp, path)
}

// makeFolder makes a folder in a session's. A link there could lead out of it.
func makeFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", dir)
	}
	return err
}
