package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/fleet"
	"stackagent/shadow/store/objectstore"
)

// queryFlags choose what a question is about.
type queryFlags struct{ fleet.Question }

func (f *queryFlags) addTo(cmd *cobra.Command) {
	f.addFew(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.Select.Version, "version", "", "only versions that match")
	flags.StringVar(&f.Select.Env, "env", "", "only environments that match")
	flags.StringVar(&f.Select.Instance, "instance", "", "only instances that match")
	flags.BoolVar(&f.Select.App, "app", false, "leave out the JDK's own task classes")
}

// addFew gives cmd the flags that need no roll-ups.
func (f *queryFlags) addFew(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.Services, "service", nil, "only services whose names match (repeatable; * and ? allowed)")
	flags.StringVar(&f.Select.Class, "class", "", "only classes that match")
	flags.StringVar(&f.Last, "last", "7d", "how far back: 6h, 7d, 52w; from two days on, whole days (UTC)")
	flags.StringVar(&f.From, "from", "", "begin, instead of --last: 2026-03-01 or 2026-03-01T14:00:00Z")
	flags.StringVar(&f.To, "to", "", "end, not included (default: now)")
	cmd.MarkFlagsMutuallyExclusive("from", "last")
}

// check reads the flags.
func (f *queryFlags) check(now time.Time) (fleet.Span, error) {
	s, err := f.Check(now)
	var wrong *fleet.Wrong
	switch {
	case !errors.As(err, &wrong):
		return s, err
	case wrong.Part == "":
		return s, console.Usagef("%s", wrong.Why)
	}
	return s, console.Usagef("--%s", wrong.Error())
}

// store is a fleet's store and what asking it cost.
type store struct {
	env     console.Env
	objects objectstore.Store
	inquiry fleet.Store
	began   time.Time
}

// openStore opens a store that is there.
func openStore(ctx context.Context, env console.Env, address string) (*store, error) {
	if !objectstore.Remote(address) {
		if info, err := os.Stat(address); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("opening the fleet's store: there is no folder %s; give one that shadow fleet add or shadow serve has written, or s3://BUCKET/PREFIX", text.Cell(address))
		}
	}
	return openNewStore(ctx, env, address)
}

// openNewStore opens a store, and makes a folder that is not there.
func openNewStore(ctx context.Context, env console.Env, address string) (*store, error) {
	s, err := objectstore.Open(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("opening the fleet's store: %w", err)
	}
	return &store{env: env, objects: s, inquiry: fleet.Store{Objects: s, Now: env.Now}, began: env.Now()}, nil
}

// mostNamed bounds the objects that a note names.
const mostNamed = 3

// note says on stderr what is missing, and what the answer cost.
func (st *store) note(s fleet.Span) {
	all := &st.inquiry.Cost
	for i, m := range all.Missing {
		if i == mostNamed {
			st.env.Note("and %s more", text.PluralExact(len(all.Missing)-i, "object", "objects"))
			break
		}
		st.env.Note("the answer lacks %s: %s", text.Cell(m.Key), text.Cell(m.Why))
	}
	if all.Rows == 0 && len(all.Missing) == 0 {
		st.env.Note("there are no roll-ups of this; shadow serve --store writes them, shadow fleet add those of sessions that are there already")
	}
	st.env.Note("%s: %s of roll-ups in %s, %s, %s, %s", s,
		text.PluralExact(all.Rows, "row", "rows"), text.PluralExact(all.Files, "file", "files"),
		text.PluralExact(all.Requests, "request", "requests"), units.FormatBytes(all.Bytes), units.FormatNs(units.Ns(st.env.Now().Sub(st.began))))
}
