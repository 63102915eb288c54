package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/leftover"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/internal/listing/table"
	"stackagent/internal/spool"
	"stackagent/internal/text"
	"stackagent/internal/timers"
	"stackagent/shadow/collect/bus"
)

// sweepInterval is how often a shadow looks for what JVMs have left.
const sweepInterval = 2 * time.Second

type deliverFlags struct {
	joinFlags
	store string
	wait  time.Duration
}

func NewDeliver(env console.Env) *cobra.Command {
	var f deliverFlags
	cmd := &cobra.Command{
		Use:   "deliver [flags] [FILE|FOLDER...]",
		Short: "Store the batches that JVMs left in spool files",
		Long: `If the bus is away when a JVM ends, its agent leaves the undelivered batches in a
spool file and prints where. This verb stores them: in a store that no shadow uses
(--store), or through a running shadow (--nats). Without either, files of a shadow run or
attach that was killed go to its own folder and complete its sessions; others go to
the folder ` + defaultStore + `. Without arguments it delivers all files in this user's
default folder.

A delivered file is deleted. A file with damaged batches is kept as FILE.damaged, and
the exit code is 1. Files of running JVMs are skipped. Delivering twice is harmless.

A shadow serve delivers the files of its own machine and user by itself.`,
		Example: `  shadow deliver FILE
  shadow deliver --store /var/lib/shadow
  shadow deliver --nats nats://127.0.0.1:4222 --token-file STORE/token FILE`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.nats != "" && f.store != "" {
				return console.Usagef("--store and --nats exclude each other")
			}
			if f.wait <= 0 {
				return console.Usagef("--wait %v: want a time above 0", f.wait)
			}
			return deliver(cmd.Context(), env, f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.store, "store", "", "folder of the sessions, as of shadow serve (default: that of the recording, else "+defaultStore+")")
	f.joinFlags.addTo(cmd)
	flags.DurationVar(&f.wait, "wait", time.Minute, "how long to try while the bus refuses")
	return cmd
}

func deliver(ctx context.Context, env console.Env, f deliverFlags, paths []string) error {
	files, err := leftFiles(paths)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		env.Note("nothing to deliver")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	if f.nats != "" {
		return f.toBus(ctx, env, files)
	}
	groups, errs := f.byStore(files)
	for _, group := range groups {
		errs = errors.Join(errs, toStore(ctx, env, group.store, group.files))
	}
	return errs
}

// storeFiles are spool files for one store.
type storeFiles struct {
	store string
	files []string
}

// byStore groups the files by where they go.
func (f deliverFlags) byStore(files []string) (groups []storeFiles, errs error) {
	for _, file := range files {
		of, err := record.StoreOf(file)
		if err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		to := cmp.Or(f.store, of, defaultStore)
		i := slices.IndexFunc(groups, func(g storeFiles) bool { return g.store == to })
		if i < 0 {
			i, groups = len(groups), append(groups, storeFiles{store: to})
		}
		groups[i].files = append(groups[i].files, file)
	}
	return groups, errs
}

// leftFiles are the files named, and those in the folders named; by default
// those in this user's folder.
func leftFiles(paths []string) ([]string, error) {
	if len(paths) == 0 {
		return spool.Files(spool.DefaultFolder()), nil
	}
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("delivering: %w; without arguments, shadow deliver takes the files in %s", err, spool.DefaultFolder())
		}
		if info.IsDir() {
			files = append(files, spool.Files(path)...)
		} else {
			files = append(files, path)
		}
	}
	return files, nil
}

func (f deliverFlags) toBus(ctx context.Context, env console.Env, files []string) error {
	b, err := f.joinInTime(ctx, env)
	if err != nil {
		return err
	}
	defer b.Close()
	return deliverFiles(ctx, env, b.JetStream(), files)
}

// joinInTime joins the bus, which may be about to come back, until ctx ends.
func (f deliverFlags) joinInTime(ctx context.Context, env console.Env) (*bus.Bus, error) {
	for {
		b, err := f.connect(env, bus.JoinOptions{}, bus.Reach)
		if err == nil || errors.Is(err, nats.ErrAuthorization) {
			return b, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(time.Second):
		}
	}
}

func toStore(ctx context.Context, env console.Env, store string, files []string) error {
	if err := ownStore(store); err != nil {
		return err
	}
	unlock, err := lockStore(store)
	if err != nil {
		return fmt.Errorf("%w, or deliver to its bus with --nats", err)
	}
	defer unlock()
	defer env.Signals.Hold(endPatience)()
	c, err := record.Start(context.WithoutCancel(ctx), env, store, newServeLive(env, "")) // a signal ends the delivery, not the storing of what is delivered
	if err != nil {
		return err
	}
	err = errors.Join(deliverFiles(ctx, env, c.Bus.JetStream(), files), c.Drain(ctx))
	finish, cancel := env.Signals.Finish(ctx, servePatience)
	defer cancel()
	sessions, _, closeErr := c.Finish(finish)
	for _, s := range sessions {
		env.Note("session %s in %s", table.Clean(s.Session), filepath.Join(store, s.Folder))
	}
	return errors.Join(err, closeErr)
}

func deliverFiles(ctx context.Context, env console.Env, js jetstream.JetStream, files []string) error {
	var errs error
	for _, path := range files {
		l, err := spool.Open(path)
		if errors.Is(err, spool.ErrInUse) {
			env.Note("%s: skipped, its JVM still runs", table.Clean(path))
			continue
		}
		if err == nil {
			var r leftover.Result
			if r, err = leftover.Deliver(ctx, js, l); err == nil {
				noteDelivered(env, r)
				record.Delivered(path)
				err = r.Err()
			}
		}
		errs = errors.Join(errs, err)
	}
	return errs
}

func noteDelivered(env console.Env, r leftover.Result) {
	env.Note("%s of session %s delivered from %s", text.PluralExact(r.Batches, "batch", "batches"), table.Clean(r.Session), table.Clean(r.Path))
}

// deliverLeft delivers what the JVMs of this bus leave in the folders, until ctx ends.
func deliverLeft(ctx context.Context, env console.Env, b *bus.Bus, folders ...string) {
	tick := timers.NewTicker(sweepInterval)
	defer tick.Stop()
	noted := ""
	var sweeper leftover.Sweeper
	for {
		results, err := sweeper.Sweep(ctx, b.JetStream(), b.ClientURL(), folders...)
		for _, r := range results {
			noteDelivered(env, r)
			if err := r.Err(); err != nil {
				env.Note("%s", text.OneLine(err.Error()))
			}
		}
		if err != nil && ctx.Err() == nil && err.Error() != noted { // once, not every time
			noted = err.Error()
			env.Note("%s", text.OneLine(err.Error()))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
