package sched

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"stackagent/internal/units"
)

// What observing costs a program that does nothing but switch: two threads pass
// a turn to and fro, with each source and without, one after the other.
func BenchmarkPing(b *testing.B) {
	const turns = 20_000
	path, err := program()
	if err != nil {
		b.Fatal(err)
	}
	for _, source := range []Choice{Off, EBPF, Perf} {
		b.Run(string(source), func(b *testing.B) {
			for range b.N {
				cmd := exec.Command(path, "ping", fmt.Sprint(turns))
				var out bytes.Buffer
				cmd.Stdout = &out
				launch, finish := observing(b, source)
				if err := launch(cmd.Start); err != nil {
					b.Fatal(err)
				}
				finish(cmd)
				var from, to units.MonoNs
				var cpu units.Ns
				var switches uint64
				if _, err := fmt.Sscan(out.String(), &from, &to, &cpu, &switches); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(to-from)/turns/2, "ns/turn")
				b.ReportMetric(float64(switches), "switches")
				b.ReportMetric(float64(cpu)/turns/2, "cpu-ns/turn") // a busy machine does not change it
			}
		})
	}
}

func observing(b *testing.B, source Choice) (launch func(func() error) error, finish func(*exec.Cmd)) {
	if source == Off {
		return func(start func() error) error { return start() }, func(cmd *exec.Cmd) { cmd.Wait() }
	}
	o, err := Start(source)
	if err != nil {
		b.Skip(err)
	}
	dir := filepath.Join(b.TempDir(), Folder, fmt.Sprint(time.Now().UnixNano()))
	return o.Launch, func(cmd *exec.Cmd) {
		if err := o.Keep(cmd.Process.Pid, dir); err != nil {
			b.Fatal(err)
		}
		cmd.Wait()
		if err := o.Close(); err != nil {
			b.Fatal(err)
		}
		r, err := openFolder(dir)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Record().Lost), "lost")
	}
}
