package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/fleet"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/fleet/upload"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/session/remotefs"
	"stackagent/shadow/show/live"
	"stackagent/shadow/show/web"
	"stackagent/shadow/store/objectstore"
)

const (
	// defaultWork is where sessions are until they are in an object store.
	defaultWork = "shadow-work"
	// uploadPatience bounds how long the end waits for the object store. The next shadow puts what is left.
	uploadPatience = 30 * time.Second
	// tryPatience bounds how long the start waits for it.
	tryPatience = 10 * time.Second
	// staleUpload is the age of an upload in parts that nobody goes on with.
	staleUpload = 24 * time.Hour
)

// uploadFlags choose an object store, and what stays on the disk.
type uploadFlags struct {
	work   string
	keep   time.Duration
	retain fleet.RetainFlags
	bucket string // --store, if that is an object store
	policy rollup.Policy
}

func (f *uploadFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.work, "work", defaultWork, "with --store s3://...: folder of the sessions until they are there")
	flags.DurationVar(&f.keep, "keep-local", upload.DefaultKeep, "with --store s3://...: how long sessions stay in --work after they are there")
	f.retain.AddTo(cmd, "retain-")
}

// openFleet opens the object store that --store names, and makes --work the store of the shadow itself; nil: --store is a
// folder.
func (f *serveFlags) openFleet(ctx context.Context, env console.Env) (objectstore.Store, error) {
	if !objectstore.Remote(f.store) {
		return nil, nil
	}
	s, err := objectstore.Open(ctx, f.store)
	if err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	if err := tryStore(ctx, env, s); err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	f.bucket, f.store = f.store, f.work
	return s, nil
}

// tryStore refuses a store that cannot keep two writers apart, and removes what shadows that died were putting there. One
// that does not answer now may do so later.
func tryStore(ctx context.Context, env console.Env, s objectstore.Store) error {
	ctx, cancel := context.WithTimeout(ctx, tryPatience)
	defer cancel()
	err := objectstore.Probe(ctx, s)
	if errors.Is(err, objectstore.ErrUnconditional) {
		return err
	}
	if err != nil {
		env.Note("the object store: %s; sessions stay in --work until it takes them", text.OneLine(err.Error()))
		return nil
	}
	if c, ok := s.(objectstore.Cleaner); ok {
		// Where nothing was ever written, some stores say that there is nothing.
		if _, err := c.CleanUploads(ctx, "", staleUpload); err != nil && !errors.Is(err, objectstore.ErrNotFound) {
			env.Note("unfinished uploads of shadows that died were not looked for: %s", text.OneLine(err.Error()))
		}
	}
	return nil
}

// checkStore refuses flags that go together with an object store only.
func (f *serveFlags) checkStore(cmd *cobra.Command) error {
	for _, name := range []string{"work", "keep-local", "retain-raw", "retain-detail", "retain-day"} {
		if cmd.Flags().Changed(name) && !objectstore.Remote(f.store) {
			return console.Usagef("--%s goes with --store s3://BUCKET/PREFIX", name)
		}
	}
	if f.keep < 0 {
		return console.Usagef("--keep-local %v: use 0 or more", f.keep)
	}
	var err error
	f.policy, err = f.retain.Policy()
	return err
}

// fleetOf is what the page asks questions of; nil: --store is a folder.
func (f *serveFlags) fleetOf(ctx context.Context, s objectstore.Store) (*web.Fleet, error) {
	if s == nil {
		return nil, nil
	}
	root, err := remotefs.Mount(context.WithoutCancel(ctx), f.bucket)
	if err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	where, options, _ := strings.Cut(f.bucket, "?")
	return &web.Fleet{
		Objects: s,
		Sessions: func(ctx context.Context, key string) ([]catalog.Found, error) {
			return remotefs.List(ctx, root+"/"+key)
		},
		Path: func(key string) string { return strings.TrimSuffix(where, "/") + "/" + key + "?" + options },
	}, nil
}

// startUploads takes sessions to the object store as they come.
func (f *serveFlags) startUploads(env console.Env, to objectstore.Store, in *ingest.Ingest) *upload.Uploader {
	trouble := func(err error) {
		if err != nil {
			env.Note("%s takes no sessions at the moment (%s); they stay in %s, and it is tried again", to, text.OneLine(err.Error()), text.Cell(f.store))
			return
		}
		env.Note("%s takes sessions again", to)
	}
	return upload.Start(upload.Options{Root: f.store, Store: to, Keep: max(f.keep, time.Nanosecond), Remove: in.Remove, Trouble: trouble, Logger: env.Logger(), Now: env.Now})
}

// endUploads waits for what has ended; what is left stays in --work.
func endUploads(ctx context.Context, env console.Env, up *upload.Uploader, to objectstore.Store, work string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), uploadPatience)
	defer cancel()
	if err := up.Close(ctx); err != nil {
		env.Note("not all sessions are in %s (%s); they stay in %s, and the next shadow with this --work goes on", to, text.OneLine(err.Error()), text.Cell(work))
		return
	}
	env.Note("all that was stored is in %s, too", to)
}

// uploadTrouble says that the object store fails, and for how long.
func uploadTrouble(s upload.Stats, work string, now time.Time) string {
	waiting := ""
	if s.WaitingBytes > 0 {
		waiting = " (" + units.FormatBytes(s.WaitingBytes) + ")"
	}
	return fmt.Sprintf("The object store has failed for %s. What it does not take stays in %s%s, and the shadow tries again. The last error: %s",
		units.FormatNs(units.Ns(now.Sub(s.Since))), work, waiting, text.OneLine(s.Problem))
}

// uploadMetrics are those of the uploads.
func uploadMetrics(s upload.Stats, now time.Time) []*live.Family {
	family := func(name string, kind live.Kind, help string, v float64) *live.Family {
		return &live.Family{Name: "stackagent_upload_" + name, Kind: kind, Help: help, Points: []live.Point{{Value: v}}}
	}
	stuck := 0.0
	if !s.Since.IsZero() {
		stuck = now.Sub(s.Since).Seconds()
	}
	return []*live.Family{
		family("sessions_total", live.Counter, "Sessions that are in the object store whole.", float64(s.Sessions)),
		family("files_total", live.Counter, "Files put into the object store.", float64(s.Files)),
		family("bytes_total", live.Counter, "Bytes put into the object store.", float64(s.Bytes)),
		family("failures_total", live.Counter, "Looks at the sessions in which the object store failed.", float64(s.Failures)),
		family("waiting_bytes", live.Gauge, "Bytes that are on the shadow's disk only.", float64(s.WaitingBytes)),
		family("stuck_seconds", live.Gauge, "How long the object store has been failing; 0: it works.", stuck),
	}
}

// families joins what reports metrics of its own.
func families(list ...func() []*live.Family) func() []*live.Family {
	return func() (all []*live.Family) {
		for _, f := range list {
			all = append(all, f()...)
		}
		return all
	}
}

// storeName is where sessions are in the end.
func storeName(f *serveFlags, to objectstore.Store) string {
	if to == nil {
		return f.store
	}
	return strings.TrimSuffix(to.String(), "/")
}
