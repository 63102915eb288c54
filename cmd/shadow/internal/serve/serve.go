// Package serve is shadow serve, the bus, store and live page that many JVMs share, and shadow deliver, which brings it
// what agents left in spool files.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/hpc/monitor"
	"stackagent/hpc/sched"
	"stackagent/internal/label"
	"stackagent/internal/spool"
	"stackagent/internal/text"
	"stackagent/internal/timers"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/collect/observe"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/show/web"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// Defaults of shadow serve.
const (
	DefaultHTTP  = "127.0.0.1:7077" // the live page
	defaultStore = "shadow-store"
	// servePatience bounds how long the end waits for batches on the bus.
	servePatience = 3 * time.Second
	// endPatience bounds the whole end. Its parts have bounds of their own, so only a disk or a bus that hangs needs it.
	endPatience = time.Minute
)

type serveFlags struct {
	store, pageTokenFile string
	maxSessions          int
	services             []string
	switches             string
	counters             bool
	monitors             record.MonitorFlags
	joinFlags
	hostFlags
	pageFlags
	logFlags
	pushFlags
	uploadFlags
	quotaFlags
}

func New(env console.Env) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Collect from many JVMs at once, with a live page",
		Long: `Runs the bus, stores each JVM's session as a folder in the store, and shows a
live page. JVMs connect with the key in the file "token" of the store:

  java -agentpath:/path/libstackagent.so=tokenfile=STORE/token ...

SIGINT and SIGTERM end it properly. Beyond loopback it needs authentication:
a token by --token-file or $` + record.TokenVariable + `, --users, or --tls-ca (clients then
need a certificate). The page asks for the token, or for that of --page-token-file,
as a password (any user name).

Several shadows may join one server or cluster: they share the sessions, and if
one dies the others take over. If --store is a shared folder, they continue in the
same folders; otherwise see shadow join. To join the bus of another shadow, give
--nkey with the file .keys/shadow.nk of its store.`,
		Example: `  shadow serve --store /var/lib/shadow
  shadow serve --store /var/lib/shadow --log-format json
  shadow serve --store /var/lib/shadow --otlp http://127.0.0.1:4318
  shadow serve --store s3://traces/stackagent --work /var/lib/shadow
  shadow serve --store /var/lib/shadow --quota checkout:open=500,new=5 --quota '*:open=200,mib=2'
  shadow serve --listen 0.0.0.0:4222 --token-file /etc/shadow.token --tls-cert c.pem --tls-key k.pem
  shadow serve --nats nats://n1:4222,nats://n2:4222,nats://n3:4222 --creds shadow.creds --tls-ca ca.pem`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.checkAll(cmd.Flags().Changed("listen")); err != nil {
				return err
			}
			err := f.checkStore(cmd)
			if err != nil {
				return err
			}
			if f.client, err = f.pushFlags.check(env, cmd); err != nil {
				return err
			}
			env.Log = f.logger(env)
			err = serve(cmd.Context(), env, f)
			if err != nil && env.Log != nil {
				env.Log.Error("the shadow ended", "error", err)
				return &console.ExitError{Code: console.ExitFailure}
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.store, "store", defaultStore, "folder of the sessions, or an object store: s3://BUCKET/PREFIX")
	flags.StringVar(&f.pageTokenFile, "page-token-file", "", "file with the page's password (default: the bus's token)")
	record.AddSwitches(flags, &f.switches)
	flags.BoolVar(&f.counters, "counters", true, "count switches, faults and hardware events of the threads of this host's JVMs from outside")
	f.monitors.AddTo(flags)
	flags.StringSliceVar(&f.services, "services", nil, "globs of services whose JVMs send here; the label service of others is not taken (default: all)")
	flags.IntVar(&f.maxSessions, "max-sessions", ingest.DefaultMaxSessions, "sessions open at once; others wait on the bus")
	f.joinFlags.addTo(cmd)
	f.hostFlags.addTo(cmd)
	f.pageFlags.addTo(cmd)
	f.logFlags.addTo(cmd)
	f.pushFlags.addTo(cmd)
	f.uploadFlags.addTo(cmd)
	f.quotaFlags.addTo(cmd)
	return cmd
}

func (f *serveFlags) checkAll(listen bool) error {
	if err := cmp.Or(record.CheckSwitches(f.switches), f.monitors.Check()); err != nil {
		return err
	}
	if f.nats != "" && listen {
		return console.Usagef("--nats joins a bus, --listen starts one: give one of them")
	}
	for _, glob := range f.services {
		if err := (&label.Filter{Service: glob}).Check(); err != nil || glob == "" {
			return console.Usagef("--services %q: want a glob such as shop-*", glob)
		}
	}
	if f.maxSessions < 1 {
		return console.Usagef("--max-sessions %d: want 1 or more", f.maxSessions)
	}
	if err := f.quotaFlags.check(); err != nil {
		return err
	}
	if f.nats == "" && f.personal() {
		return console.Usagef("--user, --creds and --nkey are for the server of --nats; who may use the shadow's own bus is in --users")
	}
	for name, address := range map[string]string{"listen": f.hostFlags.listen, "http": f.http} {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return console.Usagef("--%s %s: want HOST:PORT", name, address)
		}
	}
	if err := f.hostFlags.check(f.nats != ""); err != nil {
		return err
	}
	if err := f.logFlags.check(); err != nil {
		return err
	}
	return f.pageFlags.check()
}

// takes reports whether JVMs of a service send to this shadow.
func (f *serveFlags) takes(service string) bool {
	return slices.ContainsFunc(f.services, func(glob string) bool { return label.Glob(glob, service) })
}

// observes reports whether anything is recorded from outside.
func (f *serveFlags) observes() bool {
	return f.counters || f.switches != string(sched.Off) || f.monitors.List != monitor.None
}

// serve runs until ctx ends.
func serve(ctx context.Context, env console.Env, f serveFlags) error {
	fleet, err := f.openFleet(ctx, env)
	if err != nil {
		return err
	}
	if err := ownStore(f.store); err != nil {
		return err
	}
	if err := f.openAudit(); err != nil {
		return err
	}
	defer f.auditLog.Close()
	b, keys, unlock, err := f.openBus(env)
	if err != nil {
		return err
	}
	defer unlock()
	defer b.Close()
	defer env.Signals.Hold(endPatience)()
	_ = timers.Lenient() // without the right to that it only takes more CPU time
	live := newServeLive(env, f.store)
	w := record.NewWatcher(env, f.counters, false)
	defer w.End()
	if w.Switches, err = record.StartSwitches(env, sched.Choice(f.switches), f.store, w.Finder); err != nil {
		return err
	}
	w.Monitors = f.monitors.Start(env, f.store, w.Finder)
	live.watcher = w
	if f.observes() {
		if live.observer, err = w.Listen(b.Conn(), "shadow serve", f.store, nil); err != nil {
			env.Note("%s; JVMs are observed from their first batch on", text.OneLine(err.Error()))
		}
	}
	defer live.observer.End()
	if live.received, err = observe.Receive(b.Conn(), f.store, live.observer.Has, noteLines(env)); err != nil {
		return err
	}
	defer live.received.Close()
	services := f.takes
	if len(f.services) == 0 {
		services = nil
	}
	options := ingest.Options{Services: services, Bus: b, Root: f.store, MaxSessions: f.maxSessions, Quotas: f.quotas, Live: live, Follower: live.figures, Logger: env.Logger()}
	if fleet != nil {
		options.MayMerge = rollup.MayMerge
	}
	in, err := ingest.Start(context.WithoutCancel(ctx), options)
	if err != nil {
		return fmt.Errorf("starting to collect in %s: %w", f.store, err)
	}
	if fleet != nil {
		live.uploader = f.startUploads(env, fleet, in)
		defer endUploads(ctx, env, live.uploader, fleet, f.store)
		live.compacts = &compactor{store: fleet, bus: b, policy: f.policy, audit: f.auditLog, log: env.Logger(), note: noteLines(env), now: env.Now}
		live.compacts.start()
		defer live.compacts.close()
	}
	go live.figures.Run(ctx)
	if f.client != nil {
		live.pusher = f.pusher(env, live, b, in)
		live.pusher.Start()
		defer live.pusher.Close()
	}
	go deliverLeft(ctx, env, b, spool.DefaultFolder())
	pageErr := f.servePage(ctx, env, in, b, live, keys, fleet)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), servePatience)
	_ = in.Drain(last) // the rest waits on the bus for the next shadow
	cancel()
	switch err := in.Close(store.EndedClosed); {
	case errors.Is(err, ingest.ErrOnBus): // nothing is lost, and nothing can be done here
		env.Note("%v", err)
	case err != nil:
		return errors.Join(pageErr, fmt.Errorf("storing the last of what was received: %w", err))
	}
	if n := in.LeftOpen(); n > 0 {
		env.Note("%s not closed for lack of time: what was received is stored or waits on the bus, and the next shadow with this store goes on with them", text.Plural(uint64(n), "session is", "sessions are"))
	}
	if pageErr == nil {
		env.Note("ended; sessions are in %s", f.store)
	}
	return pageErr
}

// servePage prints the addresses and serves the page until ctx ends.
func (f serveFlags) servePage(ctx context.Context, env console.Env, in *ingest.Ingest, b *bus.Bus, live *serveLive, keys busKeys, fleet objectstore.Store) error {
	page, err := f.page(env, f.store, keys.page, in, b, live)
	if err != nil {
		return err
	}
	if page.options.Fleet, err = f.fleetOf(ctx, fleet); err != nil {
		return err
	}
	f.protect(&page.options)
	l, err := f.listenPage()
	if err != nil {
		return err
	}
	env.Note("bus %s, page %s://%s/, store %s", b.ClientURL(), page.scheme, l.Addr(), storeName(&f, fleet))
	if b.Warning() != "" {
		env.Note("%s", b.Warning())
	}
	if keys.hint != "" {
		env.Note("JVMs: java -agentpath:/path/libstackagent.so=bus=%s,%s ...", b.ClientURL(), keys.hint)
	}
	return web.New(page.options).Serve(ctx, l)
}
