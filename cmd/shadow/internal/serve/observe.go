package serve

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/hpc/sched"
	"stackagent/internal/announce"
	"stackagent/internal/spool"
	"stackagent/internal/timers"
	"stackagent/shadow/collect/bus"
)

type observeFlags struct {
	joinFlags
	work, switches string
	counters       bool
	monitors       record.MonitorFlags
}

// NewObserve makes the verb that observes this host's JVMs for the shadows of other hosts.
func NewObserve(env console.Env) *cobra.Command {
	var f observeFlags
	cmd := &cobra.Command{
		Use:   "observe --nats URL [flags]",
		Short: "Observe this host's JVMs for the shadow that stores their sessions",
		Long: `Run one per host. It hears the announcements of the JVMs of its host, containers
included, reads the counters of their threads and what the scheduler does with them from
outside, and sends both over the bus to the shadow that stores the session. The session's
folder then has the same files as after shadow run. The JVMs of its own host shadow serve
observes by itself.

The key is that of an observer: --nkey with the file .keys/observer.nk of the store whose
bus it is, or a user that may hear stackagent.v1.announce.>. It can read no session.

For JVMs of other users and of containers it needs the host's process numbers (hostPID,
docker run --pid host) and three capabilities: CAP_PERFMON counts events and loads
programs that trace, CAP_BPF lets these have maps, CAP_SYS_PTRACE reads the JVM's
counters and namespaces in /proc. shadow doctor says what is missing.

A JVM neither waits for an observer that is gone nor fails by it.`,
		Example: `  shadow observe --nats nats://shadow:4222 --nkey observer.nk
  shadow observe --nats tls://nats:4222 --user observer --password-file password --tls-ca ca.pem --monitors jvm`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.nats == "" {
				return console.Usagef("no bus given: shadow observe --nats URL [flags]")
			}
			if err := cmp.Or(record.CheckSwitches(f.switches), f.monitors.Check()); err != nil {
				return err
			}
			return observeHost(cmd.Context(), env, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.work, "work", "", "folder for what is not sent yet (default: stackagent-observed-UID in the temporary folder)")
	record.AddSwitches(flags, &f.switches)
	flags.BoolVar(&f.counters, "counters", true, "count switches, faults and hardware events of the JVMs' threads")
	f.monitors.AddTo(flags)
	f.joinFlags.addTo(cmd)
	return cmd
}

// observeHost runs until ctx ends.
func observeHost(ctx context.Context, env console.Env, f observeFlags) error {
	work := cmp.Or(f.work, filepath.Join(os.TempDir(), "stackagent-observed-"+strconv.Itoa(os.Getuid())))
	if err := spool.Prepare(work); err != nil {
		return fmt.Errorf("--work %s: %w", work, err)
	}
	unlock, err := lockStore(work)
	if err != nil {
		return err
	}
	defer unlock()
	b, err := f.connect(env, bus.JoinOptions{}, bus.Connect)
	if err != nil {
		return err
	}
	defer b.Close()
	defer env.Signals.Hold(endPatience)()
	_ = timers.Lenient() // without the right to that it only takes more CPU time
	w := record.NewWatcher(env, f.counters, false)
	if w.Switches, err = record.StartSwitches(env, sched.Choice(f.switches), work, w.Finder); err != nil {
		return err
	}
	w.Monitors = f.monitors.Start(env, work, w.Finder)
	s := record.NewShipper(env, w, b.Conn(), work)
	o, err := w.Listen(b.Conn(), record.ObserveVerb, "", s.Observed)
	if err != nil {
		w.End()
		return err
	}
	host, _ := announce.HostID() // Listen has read it
	env.Note("observing the JVMs of host %s (%s), bus %s", w.Finder.Host, host, b.ClientURL())
	s.Leftovers()
	<-ctx.Done()
	o.Close()
	w.End()
	s.End()
	env.Note("ended")
	return nil
}
