package ingest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// FuzzStored takes bytes from the bus all the way: what is accepted as a batch
// is stored, and the session can be read, condensed and reported, whatever is
// claimed in it. Every event is in the session or counted.
func FuzzStored(f *testing.F) {
	all := fakeBatches("job", 3, 7)
	withSummaries(all)
	for _, b := range all {
		f.Add(encode(f, b))
	}
	submitted := fakeBatches("job", 3, 7)
	withSubmissions(submitted)
	for _, b := range submitted {
		f.Add(encode(f, b))
	}
	f.Add(encode(f, &wire.Batch{Version: wire.Version, Session: "job", Seq: 1, Last: true}))
	limits := wire.DefaultLimits()
	limits.Events, limits.Items = 4096, 1024 // keep the fuzzer's memory small
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := wire.Decode(data, limits)
		if err != nil || check(b, sender{b.Session, b.Process}) != nil || store.ValidateName(b.Session) != nil {
			return
		}
		root := t.TempDir()
		out, err := store.OpenWriter(root, "f", b.Session)
		if err != nil {
			t.Fatal(err)
		}
		w := &worker{ingest: &Ingest{}, pending: map[uint64]*held{}, waiting: map[uint64]*held{}}
		w.begin(out, "f")
		w.part = []*held{hold(b)}
		w.convert()
		if err := out.Commit(&w.p); err != nil {
			t.Fatal(err)
		}
		readBack(t, out.Dir(), received(b))
	})
}

// readBack reads the session whole and makes its report.
func readBack(t *testing.T, dir string, want store.Counts) {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Warnings) > 0 && s.Manifest.Stored != want {
		t.Errorf("stored %+v of %+v; %q", s.Manifest.Stored, want, s.Warnings)
	}
	must(t, report(s))
	if err := s.Tasks(func(*session.Task) error { return nil }); err != nil {
		t.Fatal(err)
	}
	must(t, s.Submissions(func(*session.SubmissionChunk) error { return nil }))
	must(t, s.Constructions(func(*session.ConstructionChunk) error { return nil }))
}

// FuzzDamaged damages a stored session in one place, in whichever file; reading
// ends with what is left, or with an error.
func FuzzDamaged(f *testing.F) {
	root := f.TempDir()
	out, err := store.OpenWriter(root, "f", "job")
	must(f, err)
	all := fakeBatches("job", 3, 7)
	withSummaries(all)
	withSubmissions(all)
	w := &worker{ingest: &Ingest{}, pending: map[uint64]*held{}, waiting: map[uint64]*held{}}
	w.begin(out, "f")
	for _, b := range all {
		w.part = append(w.part, hold(b))
	}
	w.convert()
	w.p.Pauses = append(w.p.Pauses, store.Pause{StartNs: 1, EndNs: 2})
	w.p.OSThreads = append(w.p.OSThreads, store.OSThread{OSID: 77, Name: "main"})
	must(f, out.Commit(&w.p))
	entries, err := os.ReadDir(out.Dir())
	must(f, err)
	files := map[string][]byte{}
	for _, e := range entries {
		files[e.Name()], err = os.ReadFile(filepath.Join(out.Dir(), e.Name()))
		must(f, err)
	}
	for i, e := range entries {
		n := len(files[e.Name()])
		f.Add(uint8(i), n/2, byte(1), n)
		f.Add(uint8(i), n-6, byte(0x80), n)
		f.Add(uint8(i), n-40, byte(0x10), n)
		f.Add(uint8(i), 8, byte(4), n)
		f.Add(uint8(i), 0, byte(0), n/2)
	}
	f.Fuzz(func(t *testing.T, which uint8, at int, flip byte, length int) {
		dir := t.TempDir()
		for i, e := range entries {
			d := files[e.Name()]
			if i == int(which)%len(entries) {
				d = append([]byte(nil), d...)
				if at >= 0 && at < len(d) {
					d[at] ^= flip
				}
				d = d[:min(max(length, 0), len(d))]
			}
			must(t, os.WriteFile(filepath.Join(dir, e.Name()), d, 0o600))
		}
		s, err := session.Open(dir)
		if err != nil {
			return
		}
		if report(s) != nil {
			return
		}
		_ = s.Tasks(func(*session.Task) error { return nil })
	})
}

// envelope is what of a message says whose it is.
type envelope struct {
	jetstream.Msg
	subject string
	header  nats.Header
}

func (m envelope) Subject() string      { return m.subject }
func (m envelope) Headers() nats.Header { return m.header }

// FuzzSender: whatever the bus names, the folder is one in the store.
func FuzzSender(f *testing.F) {
	for _, subject := range []string{"stackagent.v1.batch.job", "stackagent.v1.batch...", "stackagent.v1.batch./etc", "stackagent.v1.batch.", "other", "stackagent.v1.batch.a/../b"} {
		f.Add(subject, "7-a")
		f.Add(subject, "../x")
	}
	f.Fuzz(func(t *testing.T, subject, process string) {
		from, err := senderOf(envelope{subject: subject, header: nats.Header{wire.ProcessHeader: {process}}})
		if err != nil {
			return
		}
		if !filepath.IsLocal(from.session) || filepath.Base(from.session) != from.session || from.session == store.ManifestName {
			t.Errorf("%q is taken for a session's name", from.session)
		}
		if wire.Subject(from.session) != subject {
			t.Errorf("%q became the session %q", subject, from.session)
		}
	})
}
