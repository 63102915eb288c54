package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/fleet/upload"
	"stackagent/shadow/show/view"
	"stackagent/shadow/show/web/audit"
	sessions "stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

func newAdd(env console.Env) *cobra.Command {
	var raw, ended bool
	cmd := &cobra.Command{
		Use:   "add STORE DIR...",
		Short: "Put sessions that are there already into a fleet's store",
		Long: `Rolls up sessions that have ended and puts the roll-ups into a store. --raw puts the
sessions themselves there, too. A session counts once, however often it or a copy of it is
added. What the store has lost of a session that was added before is put again.`,
		Example: `  shadow fleet add s3://traces/stackagent ./shadow-20260301-*
  shadow fleet add --raw /srv/fleet /var/lib/shadow/orders-1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return console.Usagef("give the fleet's store and the folders of sessions")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := sessions.ReadManifest(args[0]); !objectstore.Remote(args[0]) && err == nil {
				return console.Usagef("%s is a session; give the fleet's store first, then the sessions", args[0])
			}
			st, err := openNewStore(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			var failed error
			for _, dir := range args[1:] {
				switch added, err := add(cmd.Context(), st.objects, dir, raw, ended); {
				case err != nil:
					failed = errors.Join(failed, err)
				case added:
					env.Note("added %s to %s", text.Cell(dir), st.objects)
				default:
					env.Note("%s was added to %s before, and is there", text.Cell(dir), st.objects)
				}
			}
			return failed
		},
	}
	cmd.Flags().BoolVar(&raw, "raw", false, "put the sessions, too, not only their roll-ups")
	cmd.Flags().BoolVar(&ended, "ended", false, "also sessions whose end is missing: nothing more comes of them")
	return cmd
}

// add puts a session into a store; added is false if all of it is there.
func add(ctx context.Context, to objectstore.Store, dir string, raw, ended bool) (added bool, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	m, err := sessions.ReadManifest(dir)
	if err != nil {
		return false, fmt.Errorf("adding a session to the fleet: %w", err)
	}
	if m.Ended == sessions.EndedRunning && !ended {
		return false, fmt.Errorf("adding %s to the fleet: the session has not ended, or its shadow was killed; --ended says that nothing more comes", dir)
	}
	f, _, err := sessions.OpenSession(dir, false)
	if err == nil {
		err = f.Verify()
		f.Close()
	}
	if err != nil {
		return false, fmt.Errorf("adding a session to the fleet: %w; nothing of it was added: its sums would stay wrong", err)
	}
	name := m.Session
	if raw {
		if added, err = upload.Session(ctx, upload.Options{Root: filepath.Dir(dir), Store: to}, filepath.Base(dir)); err != nil {
			return false, err
		}
		name = filepath.Base(dir)
	}
	rolled, err := rollup.Add(ctx, to, dir, name) // after an upload, what it left because the end is missing
	return added || rolled, err
}

func newCompact(env console.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "compact STORE",
		Short: "Merge the roll-ups of sessions into a few files a day",
		Long: `Merges the roll-ups of sessions into a few files a day and service, with sums of days and
instances, and removes what is no longer needed. shadow serve does it every hour; it may
run at any time, also more than once at the same time.`,
		Example: `  shadow fleet compact s3://traces/stackagent`,
		Args:    oneStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := openStore(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			done, err := rollup.Compact(cmd.Context(), st.objects, rollup.CompactOptions{Enough: 1}, env.Now())
			if done != nil {
				for i, m := range done.Missing {
					if i == mostNamed {
						env.Note("and %s more that could not be read", text.PluralExact(len(done.Missing)-i, "file", "files"))
						break
					}
					env.Note("not merged: %s: %s", text.Cell(m.Key), text.Cell(m.Why))
				}
				env.Note("merged %s of sessions and %s, wrote %s, deleted %s", text.PluralExact(done.Merged, "file", "files"),
					text.PluralExact(done.Rewritten, "compacted file", "compacted files"), text.PluralExact(done.Written, "file", "files"), text.PluralExact(done.Deleted, "object", "objects"))
				if done.Contested > 0 {
					env.Note("another compactor was faster in %s", text.PluralExact(done.Contested, "partition", "partitions"))
				}
			}
			return err
		},
	}
}

func newRetain(env console.Env) *cobra.Command {
	var (
		l      listflags.Flags
		f      RetainFlags
		dryRun bool
		file   string
	)
	cmd := &cobra.Command{
		Use:   "retain STORE",
		Short: "Delete what is older than it should be kept",
		Long: `Deletes sessions, roll-ups of five minutes and roll-ups of days that are older than you
want to keep them, and lists what it deleted. Without a flag for a kind, that kind is kept
for ever. Ages count from the end of the day; those of sessions from their last change.`,
		Example: `  shadow fleet retain s3://traces/stackagent --raw 7d --detail 30d --day 2y --dry-run
  shadow fleet retain /srv/fleet --raw 3d --format json`,
		Args: oneStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.Check(); err != nil {
				return err
			}
			p, err := f.Policy()
			if err != nil {
				return err
			}
			if p == (rollup.Policy{}) {
				return console.Usagef("say what to delete: --raw, --detail or --day with an age")
			}
			st, err := openStore(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			var log *audit.Log
			if file != "" && !dryRun {
				if log, err = audit.Open(file); err != nil {
					return err
				}
				defer log.Close()
			}
			return retain(cmd.Context(), env, &l, st.objects, p, dryRun, log)
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	f.AddTo(cmd, "")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only list what would be deleted")
	cmd.Flags().StringVar(&file, "audit", "", "log to which what is deleted is appended, lines of JSON (see docs/access.md)")
	return cmd
}

// RetainFlags say how long what is kept.
type RetainFlags struct {
	prefix           string
	raw, detail, day string
}

// AddTo gives cmd the flags, with a prefix in their names.
func (f *RetainFlags) AddTo(cmd *cobra.Command, prefix string) {
	f.prefix = prefix
	for _, x := range f.list(&rollup.Policy{}) {
		cmd.Flags().StringVar(x.value, prefix+x.name, "", x.what)
	}
}

type retainFlag struct {
	name, what string
	value      *string
	to         *time.Duration
}

func (f *RetainFlags) list(p *rollup.Policy) []retainFlag {
	return []retainFlag{
		{"raw", "delete sessions older than this: 7d, 4w, 1y", &f.raw, &p.Raw},
		{"detail", "delete roll-ups of five minutes older than this", &f.detail, &p.Detail},
		{"day", "delete roll-ups of days and instances older than this", &f.day, &p.Day},
	}
}

// Policy is what the flags say.
func (f *RetainFlags) Policy() (p rollup.Policy, err error) {
	for _, x := range f.list(&p) {
		if *x.value == "" {
			continue
		}
		if *x.to, err = units.ParseAge(*x.value); err != nil {
			return p, console.Usagef("--%s%s %s: %v", f.prefix, x.name, *x.value, err)
		}
		if *x.to < 24*time.Hour {
			return p, console.Usagef("--%s%s %s: nothing is deleted that is younger than a day", f.prefix, x.name, *x.value)
		}
	}
	return p, nil
}

func retain(ctx context.Context, env console.Env, l *listflags.Flags, s objectstore.Store, p rollup.Policy, dryRun bool, log *audit.Log) error {
	plan, err := rollup.Plan(ctx, s, p, env.Now())
	if err != nil {
		return err
	}
	shown, what := plan, "would delete"
	if !dryRun {
		what, shown = "deleted", nil
		for _, d := range plan {
			if d.Skipped != "" {
				shown = append(shown, d)
			}
		}
		var unlogged error
		err = rollup.Apply(ctx, s, plan, env.Now(), func(d rollup.Deletion) {
			shown = append(shown, d)
			e := audit.Entry{Time: env.Now(), Who: fmt.Sprintf("user %d", os.Getuid()), Action: audit.Delete, What: d.Name, Result: audit.Done}
			unlogged = cmp.Or(unlogged, log.Add(e))
		})
		err = errors.Join(err, unlogged)
	}
	var n, bytes int64
	for _, d := range shown {
		if d.Skipped == "" {
			n, bytes = n+int64(d.Objects), bytes+d.Bytes
		}
	}
	env.Note("%s %s, %s", what, text.PluralExact(n, "object", "objects"), units.FormatBytes(bytes))
	return errors.Join(err, view.Rows(&l.Printer, shown, DeletionColumns()))
}

// DeletionColumns are the columns of shadow fleet retain.
func DeletionColumns() []listing.Column[rollup.Deletion] {
	type row = rollup.Deletion
	return []listing.Column[row]{
		{Name: "kind", Title: "kind", Doc: "session, detail (rows of five minutes), day or instance (rows of days), manifest", Kind: listing.Name,
			Value: func(d row) listing.Value { return listing.NameOf(d.Kind) }},
		{Name: "name", Title: "what", Doc: "the beginning of the names of its objects", Kind: listing.Name,
			Value: func(d row) listing.Value { return listing.NameOf(d.Name) }},
		{Name: "objects", Title: "objects", Doc: "how many", Kind: listing.Int, Unit: listing.Count,
			Value: func(d row) listing.Value { return listing.IntOf(int64(d.Objects)) }},
		{Name: "bytes", Title: "bytes", Doc: "of the objects", Kind: listing.Int, Unit: listing.Count,
			Value: func(d row) listing.Value { return listing.IntOf(d.Bytes) }},
		{Name: "skipped", Title: "kept because", Doc: "why it is kept although it is old; empty: it is deleted", Kind: listing.Name,
			Value: func(d row) listing.Value { return listing.NameOf(d.Skipped) }},
	}
}
