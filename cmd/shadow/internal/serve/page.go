package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/internal/busauth"
	"stackagent/internal/text"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/collect/observe"
	"stackagent/shadow/exchange/export/otlp"
	"stackagent/shadow/fleet/upload"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/show/live"
	"stackagent/shadow/show/web"
	"stackagent/shadow/show/web/access"
	"stackagent/shadow/show/web/audit"
	"stackagent/shadow/store"
)

// pageFlags choose where the live page is and how it is protected.
type pageFlags struct {
	http, cert, key, access, audit string

	accessPolicy *access.Policy // of --access; nil: who is admitted may do everything
	auditLog     *audit.Log
}

func (f *pageFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.http, "http", DefaultHTTP, "address of the live page; port 0: a free one")
	flags.StringVar(&f.cert, "http-tls-cert", "", "PEM file with the page's certificate: the page is HTTPS")
	flags.StringVar(&f.key, "http-tls-key", "", "PEM file with the certificate's key")
	flags.StringVar(&f.access, "access", "", "YAML file that says who sees and changes sessions of which services on the page, and the reverse proxies whose headers name users (see docs/access.md)")
	flags.StringVar(&f.audit, "audit", "", "log of deleted and labelled sessions, lines of JSON (default: "+audit.Name+" in the store)")
}

func (f *pageFlags) check() error {
	if (f.cert == "") != (f.key == "") {
		return console.Usagef("--http-tls-cert and --http-tls-key: give both or none")
	}
	if f.access == "" {
		return nil
	}
	var err error
	if f.accessPolicy, err = access.Read(f.access); err != nil {
		return fmt.Errorf("--access: %w", err)
	}
	return nil
}

// protect puts the policy and the audit log into the page's options. With a policy, only a password that was given for the
// page opens everything: every JVM's user may know the bus's token.
func (f *serveFlags) protect(o *web.Options) {
	if f.accessPolicy != nil && f.pageTokenFile == "" {
		o.Token = ""
	}
	o.Access, o.Audit = f.accessPolicy, f.auditLog
}

// openAudit opens the log of deletes.
func (f *serveFlags) openAudit() (err error) {
	f.auditLog, err = audit.Open(cmp.Or(f.pageFlags.audit, filepath.Join(f.store, audit.Name)))
	return err
}

// livePage is the live page before it listens.
type livePage struct {
	options web.Options
	scheme  string
}

// page prepares the live page; token "" asks for none.
func (f *pageFlags) page(env console.Env, dir, token string, in *ingest.Ingest, b *bus.Bus, live *serveLive) (livePage, error) {
	p := livePage{scheme: "http", options: web.Options{
		Sessions: in.Sessions, Totals: in.Totals, Quotas: in.Quotas, Live: live.figures, Healthy: func() error { return live.healthy(b, in) },
		Data: maker(env, DataFormat), File: maker(env, FileFormat), Version: pageVersion(env),
		Flush: in.Flush, Remove: live.remove(in), Peer: busauth.CheckUser,
		Store: dir, Bus: b.ClientURL(), Token: token, Note: noteLines(env), Now: env.Now,
	}}
	p.options.Pushed = live.own(env.Now)
	p.options.Troubles = func() []string { return live.troubles(env.Now()) }
	if f.cert == "" {
		if !loopbackAddress(f.http) {
			env.Note("the page at %s is not encrypted: give --http-tls-cert and --http-tls-key, or let only a proxy that encrypts reach it", f.http)
		}
		return p, nil
	}
	config, err := web.Certificate(f.cert, f.key)
	if err != nil {
		return p, fmt.Errorf("--http-tls-cert %s: %w", f.cert, err)
	}
	p.options.TLS, p.scheme = config, "https"
	return p, nil
}

func (f *pageFlags) listenPage() (net.Listener, error) {
	l, err := net.Listen("tcp", f.http)
	if err != nil {
		return nil, fmt.Errorf("--http %s: %w (is another shadow running?)", f.http, err)
	}
	return l, nil
}

// noteLines notes what may hold words of strangers.
func noteLines(env console.Env) func(string, ...any) {
	return func(format string, args ...any) { env.Note("%s", text.OneLine(fmt.Errorf(format, args...).Error())) }
}

// serveLive reports trouble on stderr and keeps what lasts. Where a log is written, it
// leaves to ingest what that logs by itself.
type serveLive struct {
	env      console.Env
	watcher  *record.Watcher  // nil: nothing is recorded from outside
	observer *record.Observer // nil: announcements are not heard
	received *observe.Receiver
	root     string           // the store
	figures  *live.Live       // the live view
	pusher   *otlp.Pusher     // of metrics; nil: none is wanted
	uploader *upload.Uploader // nil: the store is a folder
	compacts *compactor       // nil: the store is a folder

	mu       sync.Mutex
	problems map[string]error // by session that cannot be stored now
	logged   map[string]bool  // sessions whose begin is in the log
}

func newServeLive(env console.Env, root string) *serveLive {
	s := &serveLive{env: env, root: root, problems: map[string]error{}, logged: map[string]bool{}}
	s.figures = live.New(live.Options{Now: env.Now, Root: root, Labels: s.labels, Note: noteLines(env)})
	return s
}

// remove takes a session out of the store: out of the object store first, where there is one.
func (s *serveLive) remove(in *ingest.Ingest) func(ctx context.Context, folder string, remove func() error) error {
	if s.uploader == nil {
		return in.Remove
	}
	return func(ctx context.Context, folder string, remove func() error) error {
		return s.uploader.Delete(ctx, folder, func(fromStore func() error) error {
			return in.Remove(ctx, folder, func() error {
				if err := fromStore(); err != nil {
					return err
				}
				return remove()
			})
		})
	}
}

// own are the metrics of what the shadow does beside collecting.
func (s *serveLive) own(now func() time.Time) func() []*live.Family {
	var list []func() []*live.Family
	if s.pusher != nil {
		list = append(list, s.pusher.Families)
	}
	if s.uploader != nil {
		list = append(list, func() []*live.Family { return uploadMetrics(s.uploader.Stats(), now()) })
	}
	return families(list...)
}

// troubles are what fails in an object store.
func (s *serveLive) troubles(now time.Time) (list []string) {
	if s.uploader != nil {
		if x := s.uploader.Stats(); !x.Since.IsZero() {
			list = append(list, uploadTrouble(x, s.root, now))
		}
	}
	if s.compacts != nil {
		if err := s.compacts.failed(); err != nil {
			list = append(list, s.compacts.trouble(err))
		}
	}
	return list
}

// labels are what the user calls a session.
func (s *serveLive) labels(folder string) []string {
	if l := catalog.ReadLabel(filepath.Join(s.root, folder)); l.Name != "" {
		return []string{l.Name}
	}
	return nil
}

// Progress implements ingest.Live.
func (s *serveLive) Progress(p ingest.Progress) {
	if s.watcher != nil {
		s.watcher.Progress(p)
		s.observer.Progress(p)
		s.received.Progress(p)
	}
	s.figures.Progress(p)
	s.logProgress(p)
	if p.Ended != store.EndedRunning {
		s.mu.Lock()
		delete(s.problems, p.Session)
		s.mu.Unlock()
	}
}

// Problem implements ingest.Live.
func (s *serveLive) Problem(session string, err error) {
	s.mu.Lock()
	if err != nil && !errors.Is(err, ingest.ErrGivenUp) {
		s.problems[session] = err
	} else {
		delete(s.problems, session)
	}
	s.mu.Unlock()
	if s.env.Log == nil {
		record.NoteProblem(s.env, session, err)
	}
}

// Refused implements ingest.Doorkeeper.
func (s *serveLive) Refused(subject string, n uint64, err error) {
	if s.env.Log == nil {
		record.NoteRefused(s.env, subject, n, err)
	}
}

// Crowded implements ingest.Crowd.
func (s *serveLive) Crowded(waiting, limit int) {
	if s.env.Log != nil && waiting > 0 {
		return
	}
	if waiting == 0 {
		s.env.Note("no session waits any more")
		return
	}
	s.env.Note("%s: %s are open, the limit; what they send waits on the bus, then in the JVMs. --max-sessions raises the limit",
		text.PluralExact(waiting, "session waits", "sessions wait"), strconv.Itoa(limit))
}

// ForeignRow implements ingest.Rows.
func (s *serveLive) ForeignRow(err error, rows uint64) {
	if s.env.Log != nil {
		return
	}
	s.env.Note("%s ignored in the shadows' table on the bus, the last: %s", text.PluralExact(rows, "row is", "rows are"), text.OneLine(err.Error()))
}

// foreignPatience is how long a shadow counts as ill after somebody has written into its table.
const foreignPatience = time.Minute

// healthy returns why nothing is stored: without the bus no batches arrive, and a
// disk that is full or gone stops all sessions. Trouble of one session does not
// make the shadow unhealthy.
func (s *serveLive) healthy(b *bus.Bus, in *ingest.Ingest) error {
	if !b.Conn().IsConnected() {
		return errors.New("no connection to the bus")
	}
	if n, last := in.ForeignRows(); n > 0 && time.Since(last) < foreignPatience {
		return fmt.Errorf("%s in the shadows' table on the bus are not from shadows, the last a moment ago: somebody else writes there; look who may", text.PluralExact(n, "row", "rows"))
	}
	running := 0
	for _, p := range in.Sessions() {
		if p.Ended == store.EndedRunning {
			running++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.problems) == 0 || len(s.problems) < running {
		return nil
	}
	for session, err := range s.problems {
		return fmt.Errorf("%s sessions, the first: %s: %w", strconv.Itoa(len(s.problems)), session, err)
	}
	return nil
}
