// Package sessions is shadow sessions: it lists, opens, labels and deletes what is stored.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/label"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/session/remotefs"
	"stackagent/shadow/show/view"
	"stackagent/shadow/show/web/audit"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// defaultPlace explains where sessions are looked for when no folder is given.
const defaultPlace = `Without a folder, it looks in the current directory: at the folders shadow-*, as
shadow run makes them, and at the sessions in them. shadow-store, the default store of
shadow serve, is one of these.`

// New is shadow sessions. report writes the report of the session in a folder there and gives its path.
func New(env console.Env, report func(dir string) (string, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List, open, label and delete sessions",
		Long: `Lists, opens, labels and deletes sessions.

Wherever a command wants a session's folder, "last" stands for the newest session of
the current directory: the one that "shadow sessions ls" lists first. If there is a
folder named last, that is meant.`,
		Example: `  shadow sessions ls
  shadow stats last
  shadow sessions rm --older-than 720h /var/lib/shadow`,
		Args: listflags.KnownVerb,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(env.Err)
			_ = cmd.Help()
			return console.Usagef("missing command")
		},
	}
	cmd.AddCommand(newSessionsList(env), newSessionsRemove(env), newSessionsOpen(env, report), newSessionsLabel(env))
	return cmd
}

func newSessionsList(env console.Env) *cobra.Command {
	var l listflags.Flags
	var chosen label.Filter
	cmd := &cobra.Command{
		Use:   "ls [STORE...]",
		Short: "List sessions, the newest first",
		Long: `Lists the sessions of stores, the newest first. A store is a folder with sessions, as
shadow serve keeps them; the folder of a fleet, with those of all days and services; or an
address in an object store, s3://bucket/prefix: then it lists the sessions at the address
and below that have a manifest.

` + defaultPlace,
		Example: "  shadow sessions ls\n  shadow sessions ls /var/lib/shadow --format csv\n  shadow sessions ls /var/lib/shadow --service 'shop-*' --label team=a",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := l.Check(); err != nil {
				return err
			}
			if err := chosen.Check(); err != nil {
				return console.Usagef("%v", err)
			}
			found, err := sessionsIn(args)
			if err != nil {
				return err
			}
			found = slices.DeleteFunc(found, func(f catalog.Found) bool { return !chosen.Matches(&f.Labels) })
			if len(found) == 0 && l.Format == "table" {
				env.Note("no sessions here")
				return nil
			}
			return view.Rows(&l.Printer, found, view.Sessions(env.Now(), found))
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	cmd.Flags().StringVar(&chosen.Service, "service", "", "list only sessions of this service, a glob such as shop-*")
	cmd.Flags().StringVar(&chosen.Version, "version", "", "list only sessions of this version of the service, a glob")
	cmd.Flags().StringVar(&chosen.Env, "env", "", "list only sessions of this environment, a glob")
	cmd.Flags().StringArrayVar(&chosen.Free, "label", nil, "list only sessions with this label, `KEY=GLOB`; repeatable")
	return cmd
}

// sessionsIn are the sessions in folders; of none, those of the default place.
func sessionsIn(dirs []string) ([]catalog.Found, error) {
	if len(dirs) == 0 {
		return catalog.Default()
	}
	return ListedIn(dirs...)
}

// ListedIn lists the sessions of folders and of object stores, the newest first.
func ListedIn(dirs ...string) ([]catalog.Found, error) {
	var all []catalog.Found
	for _, dir := range dirs {
		var found []catalog.Found
		var err error
		if objectstore.Remote(dir) {
			found, err = remotefs.List(context.Background(), dir)
		} else {
			found, err = catalog.In(append(fleetFolders(dir), dir)...)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	catalog.Sort(all)
	return all, nil
}

// fleetFolders are the folders that hold the sessions of a fleet's store in a folder, or of a day of it.
func fleetFolders(dir string) []string {
	partition := []string{"date=*", "service=*"}
	for _, names := range [][]string{{strings.TrimSuffix(objectstore.SessionsPrefix, "/"), partition[0], partition[1]}, partition, partition[1:]} {
		if found := foldersBelow(dir, names); len(found) > 0 {
			return found
		}
	}
	return nil
}

// foldersBelow are the folders whose path below dir matches names. It follows no links: they could lead out of the store.
func foldersBelow(dir string, names []string) (found []string) {
	if len(names) == 0 {
		return []string{dir}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // what cannot be read at all is reported when dir itself is listed
	}
	for _, e := range entries {
		if ok, _ := path.Match(names[0], e.Name()); ok && e.IsDir() {
			found = append(found, foldersBelow(filepath.Join(dir, e.Name()), names[1:])...)
		}
	}
	return found
}

func newSessionsRemove(env console.Env) *cobra.Command {
	var yes bool
	var age time.Duration
	var logFile string
	cmd := &cobra.Command{
		Use:   "rm DIR...",
		Short: "Delete sessions",
		Long: `Deletes the folders of sessions, with everything in them. On a terminal it asks first.
Sessions that are being recorded or read are not deleted, nor are other folders.

With --older-than, the folders are stores: it deletes their sessions that began so long ago.

In an object store, the manifest is deleted first: if the deletion is cut, what is left is not
listed. Deleting the same address again removes it, a day after it was stored.`,
		Example: `  shadow sessions rm last
  shadow sessions rm --older-than 720h --yes /var/lib/shadow
  shadow sessions rm --older-than 720h --yes s3://bucket/fleet/sessions`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case cmd.Flags().Changed("older-than") && age <= 0:
				return console.Usagef("--older-than %v: use a duration above 0", age)
			case len(args) == 0:
				return console.Usagef("missing session folder")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			found, err := toRemove(env, args, age)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				env.Note("no session is that old")
				return nil
			}
			if err := confirm(env, found, yes); err != nil {
				return err
			}
			return removeAll(env, logFile, found)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().StringVar(&logFile, "audit", "", "log of deleted sessions, lines of JSON, to append to (default: "+audit.Name+" of the store, if shadow serve has made one)")
	cmd.Flags().DurationVar(&age, "older-than", 0, "delete the sessions of the folders that began longer ago than this")
	return cmd
}

// toRemove are the sessions that are meant.
func toRemove(env console.Env, args []string, age time.Duration) ([]catalog.Found, error) {
	if age > 0 {
		return oldSessions(env, args, age)
	}
	var found []catalog.Found
	for _, arg := range args {
		dir, err := env.Resolve(arg)
		if err != nil {
			return nil, err
		}
		in, err := ListedIn(dir)
		if err != nil {
			return nil, err
		}
		if len(in) == 0 && objectstore.Remote(dir) {
			if in, err = leftover(env, dir); err != nil {
				return nil, err
			}
		}
		if len(in) != 1 || filepath.Clean(in[0].Dir) != filepath.Clean(dir) {
			return nil, fmt.Errorf("%s: %w: it holds %s; name the session, or give --older-than", dir, store.ErrNoSession,
				text.PluralExact(len(in), "session", "sessions"))
		}
		if in[0].Open(env.Now()) {
			return nil, fmt.Errorf("%s is still being recorded; it can be deleted when it has ended, or when nothing was stored for %v", dir, catalog.LostContact)
		}
		found = append(found, in[0])
	}
	return found, nil
}

// leftover is what a cut upload or deletion left of a session in an object store, if it is old enough.
func leftover(env console.Env, dir string) ([]catalog.Found, error) {
	bytes, latest, ok, err := remotefs.Leftover(context.Background(), dir)
	if err != nil || !ok {
		return nil, err
	}
	if env.Now().Sub(latest) < remotefs.Unfinished {
		return nil, fmt.Errorf("%s has no %s: it may be uploaded just now; what is left of an upload can be deleted after %v", dir, store.ManifestName, remotefs.Unfinished)
	}
	return []catalog.Found{{Dir: dir, Entry: catalog.Entry{Folder: path.Base(dir), Bytes: bytes, Started: latest, Stored: latest, Damaged: "there is no manifest"}}}, nil
}

// oldSessions are those of stores that began long ago and have ended.
func oldSessions(env console.Env, stores []string, age time.Duration) ([]catalog.Found, error) {
	all, err := ListedIn(stores...)
	if err != nil {
		return nil, err
	}
	var found []catalog.Found
	for _, f := range all {
		if now := env.Now(); now.Sub(f.Started) > age && !f.Open(now) {
			found = append(found, f)
		}
	}
	return found, nil
}

func removeAll(env console.Env, logFile string, found []catalog.Found) error {
	var errs error
	deleted := 0
	for _, f := range found {
		if err := audited(env, logFile, &f); err != nil {
			errs = errors.Join(errs, fmt.Errorf("%s: %w", f.Dir, err))
			continue
		}
		deleted++
	}
	env.Note("deleted %s", text.PluralExact(deleted, "session", "sessions"))
	return errs
}

// audited deletes a session and logs that, if there is a log.
func audited(env console.Env, logFile string, f *catalog.Found) error {
	var log *audit.Log
	var err error
	switch {
	case logFile != "":
		log, err = audit.Open(logFile)
	case !objectstore.Remote(f.Dir):
		log, err = audit.OpenExisting(filepath.Join(filepath.Dir(f.Dir), audit.Name))
	}
	if err != nil {
		return err
	}
	defer log.Close()
	e := audit.Entry{Who: fmt.Sprintf("user %d", os.Getuid()), Action: audit.Delete, What: f.Dir, Service: f.Labels.Service}
	return log.Do(e, env.Now, func() error { return deleteSession(f.Dir) })
}

func deleteSession(dir string) error {
	if objectstore.Remote(dir) {
		return remotefs.Delete(context.Background(), dir)
	}
	return catalog.Delete(dir)
}

func newSessionsOpen(env console.Env, report func(dir string) (string, error)) *cobra.Command {
	return &cobra.Command{
		Use:   "open [DIR|STORE]",
		Short: "Write the report of a session and open it in a browser",
		Long: `Writes the report of a session, of a store's newest one, or of the last. On a desktop it
opens the report in the browser; elsewhere it prints the address.`,
		Example: "  shadow sessions open\n  shadow sessions open /var/lib/shadow",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := newest(env, args)
			if err != nil {
				return err
			}
			if objectstore.Remote(dir) {
				return fmt.Errorf("%s is in an object store: write its report with shadow report %[1]s -o FILE.html", dir)
			}
			path, err := report(dir)
			if err != nil {
				return err
			}
			return openInBrowser(env, path)
		},
	}
}

// newest is the session that is meant: the one named, or the newest of a store.
func newest(env console.Env, args []string) (string, error) {
	if len(args) == 0 {
		args = []string{catalog.Last}
	}
	dir, err := env.Resolve(args[0])
	if err != nil {
		return "", err
	}
	found, err := ListedIn(dir)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s: %w: it holds none either", dir, store.ErrNoSession)
	}
	return found[0].Dir, nil
}

// openInBrowser opens a page on a desktop, and prints its address elsewhere.
func openInBrowser(env console.Env, path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("finding the report: %w", err)
	}
	address := (&url.URL{Scheme: "file", Path: abs}).String()
	opener, err := exec.LookPath("xdg-open")
	if err != nil || env.Getenv("DISPLAY") == "" && env.Getenv("WAYLAND_DISPLAY") == "" {
		env.Note("open %s in a browser", table.Clean(address))
		return nil
	}
	cmd := exec.Command(opener, address)
	cmd.Env = env.Environ
	if err := cmd.Run(); err != nil {
		env.Note("xdg-open cannot open it (%v); open %s in a browser", err, table.Clean(address))
	}
	return nil
}

func newSessionsLabel(env console.Env) *cobra.Command {
	var l catalog.Label
	cmd := &cobra.Command{
		Use:   "label DIR [--name NAME] [--note TEXT]",
		Short: "Name a session, or keep a note beside it",
		Long: `Keeps a name and a note for a session. Listings and the live page show the name in place
of the program. They are in the file ` + catalog.LabelName + ` of the session's folder; the session
itself does not change. An empty name or note removes it.`,
		Example: `  shadow sessions label last --name "before the fix" --note "8 workers, warm cache"`,
		Args:    listflags.OneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, note := cmd.Flags().Changed("name"), cmd.Flags().Changed("note")
			if !name && !note {
				return console.Usagef("nothing to change: give --name, --note or both")
			}
			dir, err := newest(env, args)
			if err != nil {
				return err
			}
			if objectstore.Remote(dir) {
				return fmt.Errorf("%s is in an object store: sessions there cannot be labelled", dir)
			}
			return catalog.Relabel(dir, func(old *catalog.Label) {
				if name {
					old.Name = l.Name
				}
				if note {
					old.Note = l.Note
				}
			})
		},
	}
	cmd.Flags().StringVar(&l.Name, "name", "", "what to call it")
	cmd.Flags().StringVar(&l.Note, "note", "", "free text")
	return cmd
}
