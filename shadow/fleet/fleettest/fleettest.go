// Package fleettest makes the sessions of a fleet whose figures are known.
package fleettest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"stackagent/internal/label"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// Fleet describes one.
type Fleet struct {
	Sessions, Services, Days int
	Instances                int // of a service
	Executions               int // of a session, at most: they have 100 and more
	From                     time.Time
	Seed                     uint64
}

// Session is one of a fleet.
type Session struct {
	Dir, Name string
	Labels    label.Labels
	Started   time.Time
}

// Service names a service of a fleet.
func Service(i int) string { return fmt.Sprintf("service-%02d", i) }

// Generate writes the sessions into a folder.
func (f *Fleet) Generate(root string) ([]Session, error) {
	list := make([]Session, f.Sessions)
	for i := range list {
		var err error
		if list[i], err = f.Make(root, i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Fill puts the roll-ups of all sessions into a store.
func (f *Fleet) Fill(ctx context.Context, to objectstore.Store) error {
	root, err := os.MkdirTemp("", "fleettest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range f.Sessions {
		group.Go(func() error {
			x, err := f.Make(root, i)
			if err == nil {
				err = rollup.RollUp(ctx, to, x.Dir, x.Name, true)
			}
			return errors.Join(err, os.RemoveAll(filepath.Join(root, x.Name)))
		})
	}
	return group.Wait()
}

// Make writes session i: of one of the services, of one of its instances, which change their version in the middle of the
// time.
func (f *Fleet) Make(root string, i int) (x Session, err error) {
	random := rand.New(rand.NewPCG(f.Seed, uint64(i)))
	at := time.Duration(random.Int64N(int64(f.Days) * int64(24*time.Hour)))
	x.Name = fmt.Sprintf("session-%05d", i)
	x.Dir, x.Started = filepath.Join(root, x.Name), f.From.Add(at)
	x.Labels = label.Labels{Service: Service(i % f.Services), Version: "1.0", Env: "production", Instance: fmt.Sprintf("pod-%d", i/f.Services%max(1, f.Instances))}
	if at > time.Duration(f.Days)*12*time.Hour {
		x.Labels.Version = "1.1"
	}
	if _, err := summarytest.Generate(root, x.Name, 100+random.IntN(max(1, f.Executions-100)), true); err != nil {
		return x, err
	}
	w, err := store.OpenWriter(root, x.Name, x.Name)
	if err != nil {
		return x, err
	}
	w.Manifest.Labels, w.Manifest.WallUnixNs = x.Labels, x.Started.UnixNano()
	return x, w.Close()
}
