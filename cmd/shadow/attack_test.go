package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/vmihailenco/msgpack/v5"

	"stackagent/cmd/shadow/internal/serve"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/show/web"
	"stackagent/shadow/store"
)

// attacker has the token of a JVM and a connection of its own.
type attacker struct {
	t    *testing.T
	conn *nats.Conn
	js   jetstream.JetStream
}

func newAttacker(t *testing.T, busURL, token string) attacker {
	t.Helper()
	conn, err := nats.Connect(busURL, optionsOf(token)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return attacker{t, conn, js}
}

// publish sends data and gives the bus's answer.
func (a attacker) publish(subject string, data []byte, header ...string) error {
	m := &nats.Msg{Subject: subject, Data: data, Header: nats.Header{}}
	for i := 0; i+1 < len(header); i += 2 {
		m.Header[header[i]] = []string{header[i+1]}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	denied := make(chan error, 1)
	a.conn.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		select {
		case denied <- err:
			cancel() // the bus reports a denied publication, but does not answer it
		default:
		}
	})
	_, err := a.js.PublishMsg(ctx, m)
	select {
	case refusal := <-denied:
		return errors.Join(refusal, err)
	default:
		return err
	}
}

// small is a whole session of one batch.
func small(t *testing.T, name string, change func(*wire.Batch)) []byte {
	t.Helper()
	at := wire.ClockPair{Ticks: 2e9, Mono: 2e9}
	b := &wire.Batch{Version: wire.Version, Session: name, Seq: 1, Clock: at, Last: true,
		Hello:      &wire.Hello{PID: 1, Host: "attacker", ClockName: "monotonic", StartClock: wire.ClockPair{Ticks: 1e9, Mono: 1e9}, Metrics: []string{"wall"}},
		Classes:    []wire.Class{{ID: 1, Name: "Evil", Kinds: units.KindRunnable}},
		Creations:  []wire.Creation{{TaskID: 1, Class: 1, Thread: 1, At: 15e8}},
		Executions: []wire.Execution{{TaskID: 1, Class: 1, Thread: 1, Start: 16e8, End: 17e8, CPU: 5}},
		Totals:     wire.Totals{Executions: 1, Creations: 1}}
	if change != nil {
		change(b)
	}
	data, err := wire.Encode(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// rowsOf asks the page for the sessions.
func rowsOf(t *testing.T, page string) map[string]web.Row {
	t.Helper()
	var rows []web.Row
	if err := json.Unmarshal([]byte(get(t, page+"sessions.json")), &rows); err != nil {
		t.Fatal(err)
	}
	byName := map[string]web.Row{}
	for _, r := range rows {
		byName[r.Session] = r
	}
	return byName
}

// ended waits for a session's end.
func ended(t *testing.T, page, name string) web.Row {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if r, ok := rowsOf(t, page)[name]; ok && !r.Running {
			return r
		}
	}
	t.Fatalf("%s does not end: %+v", name, rowsOf(t, page))
	return web.Row{}
}

// TestAttacks attacks a shadow in each way at hand; an honest JVM's session
// must come out whole, and nothing may be outside the store.
func TestAttacks(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(outside, "store")
	busURL, page, stop := startServe(t, dir)
	b, err := os.ReadFile(filepath.Join(dir, serve.TokenName))
	if err != nil {
		t.Fatal(err)
	}
	token := string(b)
	strangers(t, busURL)
	halfOpen(t, page)
	a := newAttacker(t, busURL, token)
	a.wrongSubjects()
	a.wrongBytes()
	a.floodOfSessions(page)
	a.absurd(page)
	if err := send(busURL, token, "h", true); err != nil { // the honest one
		t.Fatal(err)
	}
	honest := ended(t, page, fmt.Sprintf("fake-%d", os.Getpid()))
	if honest.Executions != 3 || honest.Stored != 6 || honest.Lost != 0 {
		t.Errorf("the honest session: %+v", honest)
	}
	a.replay(page, honest)
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside of the store: %v, %v", entries, err)
	}
	code, errs := stop()
	if code != 0 {
		t.Errorf("the shadow ended with %d: %s", code, errs)
	}
	printed(t, "serve", errs)
	if strings.Contains(errs, token) {
		t.Error("the token is in the shadow's log")
	}
	code, out, errs := shadow(t, nil, "stats", honest.Folder, "--format", "json")
	if code != 0 || !strings.Contains(out, `"executions": 3`) {
		t.Errorf("stats of the honest session: %d %s%s", code, out, errs)
	}
}

// strangers connect without the token.
func strangers(t *testing.T, busURL string) {
	u, err := url.Parse(busURL)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range [][]nats.Option{nil, {nats.Token("")}, {nats.Token("wrong-wrong-wrong")}, {nats.UserInfo("shadow", "")}} {
		if c, err := nats.Connect(busURL, o...); err == nil {
			c.Close()
			t.Error("the bus lets a stranger in")
		}
	}
	for _, first := range []string{"GET / HTTP/1.1\r\n\r\n", "PUB stackagent.v1.batch.x 5\r\nhello\r\n", "SUB > 1\r\n", "CONNECT {}\r\nSUB > 1\r\nPING\r\n",
		strings.Repeat("A", 1<<16), "\x00\xff\x16\x03\x01", "PUB x 99999999999999\r\n"} {
		c, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, first)
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		answer, err := io.ReadAll(c)
		if err != nil && !strings.Contains(err.Error(), "reset") || bytes.Contains(answer, []byte("PONG")) || bytes.Contains(answer, []byte("MSG")) {
			t.Errorf("%.20q is answered with %q, %v", first, answer, err)
		}
		c.Close()
	}
}

// halfOpen holds connections to the page that never finish their request.
func halfOpen(t *testing.T, page string) {
	u, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		c, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\nX-")
		t.Cleanup(func() { c.Close() })
	}
	if code := statusOf(t, page, strings.Repeat("a", 64<<10)); code != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a header of 64 KiB: %d", code)
	}
	get(t, page) // it still answers
}

func statusOf(t *testing.T, page, header string) int {
	t.Helper()
	r, err := http.NewRequest("GET", page, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Long", header)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// wrongSubjects publishes what is no session's, and what would leave the store.
func (a attacker) wrongSubjects() {
	good := small(a.t, "x", nil)
	for _, subject := range []string{"..", "../../x", "/etc/passwd", "a/b", "manifest.json", ".bus", ".shadows", "token", "a..b", "a.b.c", "x\\y", "%2e%2e",
		strings.Repeat("n", 300), "\u202e", "<script>"} {
		_ = a.publish(wire.Subject(subject), good) // the bus or the shadow refuses it
	}
	for _, subject := range []string{"stackagent.v1", "stackagent.v2.batch.x", "other"} {
		if err := a.publish(subject, good); err == nil {
			a.t.Errorf("%s is stored by the bus", subject)
		}
	}
	for _, process := range []string{"../x", "a b", strings.Repeat("p", 200), "\u202e"} {
		_ = a.publish(wire.Subject("forged"), good, wire.ProcessHeader, process)
	}
}

// wrongBytes publishes what is no batch; memory must not grow with what it claims.
func (a attacker) wrongBytes() {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	claims := []byte{0x81, 0xa1, 'x', 0xdd, 0xff, 0xff, 0xff, 0xff}
	packed, err := msgpack.Marshal(map[string]any{"v": wire.Version, "s": "bytes", "q": 1, "e": bytes.Repeat([]byte{0xff}, 1000), "u": bytes.Repeat([]byte{0xfe}, 1000)})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, data := range [][]byte{nil, {}, claims, packed, bytes.Repeat([]byte{0x91}, 1<<19), bytes.Repeat([]byte{0xff}, 1<<19), []byte("not a batch"),
		small(a.t, "another", nil)} {
		_ = a.publish(wire.Subject("bytes"), data)
	}
	runtime.ReadMemStats(&after)
	if grown := after.HeapAlloc - min(after.HeapAlloc, before.HeapAlloc); grown > 256<<20 {
		a.t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	if err := a.publish(wire.Subject("bytes"), make([]byte, 2<<20)); err == nil {
		a.t.Error("a message of 2 MiB is taken")
	}
	// The same on a raw connection, where no library checks before it sends.
	if !a.conn.IsConnected() {
		a.t.Error("the connection is gone")
	}
}

// sessionsOfFlood is more than a shadow has open at once would take long; the
// bound itself is tested in shadow/collect/ingest.
const sessionsOfFlood = 100

func (a attacker) floodOfSessions(page string) {
	for i := range sessionsOfFlood {
		name := fmt.Sprintf("flood-%d", i)
		if err := a.publish(wire.Subject(name), small(a.t, name, nil)); err != nil {
			a.t.Fatal(err)
		}
	}
	for i := range sessionsOfFlood {
		if r := ended(a.t, page, fmt.Sprintf("flood-%d", i)); r.Stored != 2 {
			a.t.Errorf("%+v", r)
		}
	}
}

// absurd sends batches that are well formed and make no sense.
func (a attacker) absurd(page string) {
	changes := map[string]func(*wire.Batch){
		"ends-before-start": func(b *wire.Batch) { b.Executions[0].End = 1 },
		"far-future":        func(b *wire.Batch) { b.Executions[0].End = math.MaxUint64 },
		"far-past":          func(b *wire.Batch) { b.Executions[0].Start = 0 },
		"clock-backwards":   func(b *wire.Batch) { b.Clock = wire.ClockPair{Ticks: 1, Mono: 1 << 62} },
		"clock-stands":      func(b *wire.Batch) { b.Clock = b.Hello.StartClock },
		"clock-extremes": func(b *wire.Batch) {
			b.Clock, b.Hello.StartClock = wire.ClockPair{Ticks: math.MaxUint64, Mono: math.MinInt64}, wire.ClockPair{Ticks: 0, Mono: math.MaxInt64}
		},
		"huge-cpu":       func(b *wire.Batch) { b.Executions[0].CPU = math.MaxInt64; b.Executions[0].ChildCPU = math.MinInt64 },
		"unknown-class":  func(b *wire.Batch) { b.Executions[0].Class = math.MaxUint32; b.Creations[0].Thread = math.MaxUint32 },
		"class-twice":    func(b *wire.Batch) { b.Classes = append(b.Classes, wire.Class{ID: 1, Name: "Other"}) },
		"many-classes":   func(b *wire.Batch) { b.Classes = manyClasses() },
		"totals":         func(b *wire.Batch) { b.Totals = wire.Totals{Executions: math.MaxUint64, Creations: math.MaxUint64} },
		"sequence":       func(b *wire.Batch) { b.Seq = 1 << 47 },
		"no-hello":       func(b *wire.Batch) { b.Hello = nil },
		"nobody":         func(b *wire.Batch) { *b = wire.Batch{Version: wire.Version, Session: b.Session, Seq: 1, Last: true} },
		"pid":            func(b *wire.Batch) { b.Hello.PID = math.MaxInt32; b.Hello.CPUs = math.MinInt32 },
		"own-outer-task": func(b *wire.Batch) { b.Executions[0].OuterTaskID = 1; b.Executions[0].Depth = math.MaxUint16 },
	}
	for name, change := range changes {
		if err := a.publish(wire.Subject(name), small(a.t, name, change)); err != nil {
			a.t.Errorf("%s: %v", name, err)
		}
	}
	_ = a.publish(wire.Subject("sequence-far"), small(a.t, "sequence-far", func(b *wire.Batch) { b.Seq = math.MaxUint64 }))
	for name := range changes {
		r := ended(a.t, page, name)
		for _, verb := range []string{"stats", "hotspots", "tasks", "threads", "report"} {
			code, out, errs := shadow(a.t, nil, verb, r.Folder)
			if code != 0 || strings.Contains(out+errs, "panic") {
				a.t.Errorf("%s %s: exit code %d: %s", verb, name, code, errs)
			}
		}
	}
}

func manyClasses() []wire.Class {
	all := make([]wire.Class, 30000)
	for i := range all {
		all[i] = wire.Class{ID: uint32(i + 1), Name: fmt.Sprint("c", i)}
	}
	return all
}

// replay sends the honest session's batches again, with other contents and in its name.
func (a attacker) replay(page string, honest web.Row) {
	for range 3 {
		for _, process := range []string{"", "other-process"} {
			_ = a.publish(wire.Subject(honest.Session), small(a.t, honest.Session, nil), wire.ProcessHeader, process)
		}
	}
	time.Sleep(time.Second)
	if r, err := store.ReadManifest(honest.Folder); err != nil || r.Stored.Executions != 3 || r.JVM.Host != "h" {
		a.t.Errorf("after a replay: %+v, %v", r, err)
	}
	if rows := rowsOf(a.t, page); rows["sequence-far"].Session != "" || rows["forged"].Session != "" || rows["x"].Session != "" {
		a.t.Errorf("what should be refused is a session: %+v", rows)
	}
}
