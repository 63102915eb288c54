package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/internal/busauth"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

const host = "356f2ee8-3fba-42cc-be97-be6b2ab29e45"

func piece() Piece {
	return Piece{Version: Version, Session: "job.a", Process: "1-2-3", HostID: host, PID: 7, ID: strings.Repeat("ab", 16), By: "shadow observe", Host: "h", FromNs: 5, UntilNs: 9}
}

func TestPiece(t *testing.T) {
	p := piece()
	p.Name, p.Size, p.Offset, p.Data = "sched/gc-00000001.parquet", 10, 3, []byte("abc")
	back, err := ParsePiece(p.Encode())
	if err != nil || !bytes.Equal(back.Data, p.Data) || back.Name != p.Name || back.Offset != 3 {
		t.Errorf("%+v, %v", back, err)
	}
	for name, change := range map[string]func(*Piece){
		"another version":  func(p *Piece) { p.Version++ },
		"the manifest":     func(p *Piece) { p.Name = "manifest.json" },
		"a way out":        func(p *Piece) { p.Name = "sched/../manifest.json" },
		"another folder":   func(p *Piece) { p.Name = "x/record.json" },
		"a line break":     func(p *Piece) { p.Name = "counters.json\n" },
		"bytes behind it":  func(p *Piece) { p.Offset = 8 },
		"a negative place": func(p *Piece) { p.Offset = -1 },
		"a huge file":      func(p *Piece) { p.Size = maxFile + 1 },
		"no process":       func(p *Piece) { p.Process = "" },
		"an id with a dot": func(p *Piece) { p.ID = "../../../../../../" },
		"time backwards":   func(p *Piece) { p.UntilNs = 4 },
		"no host":          func(p *Piece) { p.HostID = "" },
		"data of no file":  func(p *Piece) { p.Name = "" },
	} {
		bad := p
		change(&bad)
		if _, err := ParsePiece(bad.Encode()); !errors.Is(err, ErrPiece) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is accepted can only be a file that an observer may write, within its bounds.
func FuzzPiece(f *testing.F) {
	p := piece()
	f.Add(p.Encode())
	p.Name, p.Size, p.Data = "counters.json", 3, []byte("{}\n")
	f.Add(p.Encode())
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePiece(b)
		if err == nil && p.Name != "" && (!fs.ValidPath(p.Name) || !Name(p.Name) || p.Offset < 0 || p.Offset+int64(len(p.Data)) > p.Size || p.Size > maxFile) {
			t.Errorf("%q: %+v", b, p)
		}
		_, _ = parseAck(b)
	})
}

// pair is a shadow with a session, and a connection of an observer with an observer's rights.
type pair struct {
	r    *Receiver
	conn *nats.Conn
	root string
}

func newPair(t *testing.T, own bool) pair {
	t.Helper()
	seed, err := busauth.NewSeed()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	o := bus.Options{Listen: "127.0.0.1:0", StoreDir: filepath.Join(root, ".bus"), ObserverSeed: seed}
	b, err := bus.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	auth, err := busauth.Auth{Seed: seed}.Options()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(b.ClientURL(), auth...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	r, err := Receive(b.Conn(), root, func(string, string) bool { return own }, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "job.a"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.Progress(ingest.Progress{Session: "job.a", Process: "1-2-3", Folder: "job.a", JVM: store.JVM{HostID: host, PID: 7}})
	return pair{r, conn, root}
}

// Files of any size arrive as they are, those that changed again, and the session says who observed and until when.
func TestSend(t *testing.T) {
	p, from := newPair(t, false), t.TempDir()
	files := map[string][]byte{"counters.json": []byte("{}"), "sched/record.json": []byte(`{"id":"x"}`),
		"sched/slices-00000000.parquet": bytes.Repeat([]byte("0123456789"), MaxPiece/4), "monitors/samples-00000000.parquet": nil}
	for name, b := range files {
		path := filepath.Join(from, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(from, "sched", "other"), nil, 0o600); err != nil { // is not sent
		t.Fatal(err)
	}
	s := NewSender(p.conn, from, piece())
	if err := s.Send(t.Context(), Piece{UntilNs: 50}); err != nil {
		t.Fatal(err)
	}
	files["counters.json"] = []byte(`{"version":1}`)
	if err := os.WriteFile(filepath.Join(from, "counters.json"), files["counters.json"], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), Piece{UntilNs: 60, Complete: true}); err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(p.root, "job.a", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(want))
		}
	}
	o, err := store.ReadObserved(filepath.Join(p.root, "job.a"))
	if err != nil || o.By != "shadow observe" || o.FromNs != 5 || o.UntilNs != 60 || !o.Complete || len(o.Files) != 2 {
		t.Errorf("%+v, %v", o, err)
	}
	left, _ := filepath.Glob(filepath.Join(p.root, "job.a", ".observed-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A shadow takes nothing of a session but from its one observer, who knows the JVM's announcement.
func TestRefused(t *testing.T) {
	p := newPair(t, false)
	if _, err := NewSender(p.conn, "", piece()).ask(t.Context(), piece()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Piece){
		"another host":     func(p *Piece) { p.HostID = "0" },
		"another number":   func(p *Piece) { p.PID = 8 },
		"another observer": func(p *Piece) { p.ID = strings.Repeat("cd", 16) },
	} {
		bad := piece()
		change(&bad)
		if _, err := NewSender(p.conn, "", bad).ask(t.Context(), bad); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	unknown := piece()
	unknown.Process = "9-9-9"
	if _, err := NewSender(p.conn, "", unknown).ask(ctx, unknown); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a process that this shadow has no session of: %v, want no answer", err)
	}
	own := newPair(t, true)
	if _, err := NewSender(own.conn, "", piece()).ask(t.Context(), piece()); !errors.Is(err, ErrRefused) {
		t.Errorf("a session that the shadow observes itself: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(own.root, "job.a", store.ObservedName)); err == nil {
		t.Error("a refused observer wrote into the session")
	}
}

// An observer's key is good for what an observer does, and for nothing else.
func TestRights(t *testing.T) {
	p := newPair(t, false)
	denied := make(chan error, 16)
	p.conn.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err })
	for _, subject := range []string{bus.Subjects, ">", "$JS.>", "_INBOX.>"} {
		if _, err := p.conn.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
	}
	for _, subject := range []string{"stackagent.v1.batch.job", "$JS.API.STREAM.DELETE." + bus.Stream, "stackagent.v1.announce." + host} {
		if err := p.conn.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	for range 7 {
		select {
		case err := <-denied:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("something of this is allowed")
		}
	}
	// An answer goes to inboxes only, whatever the observer asks.
	m := nats.NewMsg(bus.Observed + "job.a")
	m.Reply, m.Data = "$JS.API.STREAM.PURGE."+bus.Stream, piece().Encode()
	if err := p.conn.PublishMsg(m); err != nil {
		t.Fatal(err)
	}
	if _, err := NewSender(p.conn, "", piece()).ask(t.Context(), piece()); err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(Ack{Version: Version, Have: -1})
	if _, err := parseAck(b); err == nil {
		t.Error("a negative answer is accepted")
	}
}
