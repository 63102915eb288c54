// Command genfleet fills a fleet's store with the roll-ups of sessions whose figures are known, to test and measure its
// readers: genfleet -sessions 10000 -services 10 -days 30 STORE.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"stackagent/shadow/fleet/fleettest"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/store/objectstore"
)

func main() {
	var f fleettest.Fleet
	flag.IntVar(&f.Sessions, "sessions", 1000, "sessions")
	flag.IntVar(&f.Services, "services", 10, "services")
	flag.IntVar(&f.Instances, "instances", 8, "instances of a service")
	flag.IntVar(&f.Days, "days", 30, "days until yesterday over which they are spread")
	flag.IntVar(&f.Executions, "executions", 1000, "executions of a session, at most")
	compact := flag.Bool("compact", true, "compact the roll-ups")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: genfleet [flags] STORE")
		os.Exit(2)
	}
	f.From = time.Now().UTC().AddDate(0, 0, -f.Days).Truncate(24 * time.Hour)
	if err := fill(&f, flag.Arg(0), *compact); err != nil {
		fmt.Fprintln(os.Stderr, "genfleet:", err)
		os.Exit(1)
	}
}

func fill(f *fleettest.Fleet, address string, compact bool) error {
	ctx := context.Background()
	if !objectstore.Remote(address) {
		if err := os.MkdirAll(address, 0o700); err != nil {
			return err
		}
	}
	to, err := objectstore.Open(ctx, address)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := f.Fill(ctx, to); err != nil {
		return err
	}
	fmt.Printf("%d sessions rolled up in %v\n", f.Sessions, time.Since(began).Round(time.Millisecond))
	if !compact {
		return nil
	}
	began = time.Now()
	done, err := rollup.Compact(ctx, to, rollup.CompactOptions{Enough: 1}, time.Now())
	if err != nil {
		return err
	}
	fmt.Printf("%d partitions compacted in %v\n", done.Partitions, time.Since(began).Round(time.Millisecond))
	return nil
}
