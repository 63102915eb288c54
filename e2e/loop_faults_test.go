package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/testjvm"
	"stackagent/internal/testnats"
)

// The shadow dies, its bus with it, and comes back on the same store.
func shadowKilled(r *round) {
	r.server.kill(r.T)
	r.proxy.cut()
	time.Sleep(r.random(0, 2*time.Second))
	r.serve()
}

// Nothing comes through for a while, and nobody says so.
func busUnreachable(r *round) {
	r.proxy.set(func() { r.proxy.stuck = true })
	time.Sleep(r.outage())
	r.proxy.set(func() { r.proxy.stuck = false })
}

// The connection breaks within a batch, several times.
func connectionCut(r *round) {
	for range 1 + r.rng.IntN(5) {
		r.proxy.set(func() { r.proxy.left = r.rng.Int64N(1 << 20) })
		time.Sleep(r.random(10*time.Millisecond, 500*time.Millisecond))
	}
	r.proxy.cut()
}

// The shadow does not get a processor for a while.
func shadowStopped(r *round) {
	if err := r.server.Process.Signal(syscall.SIGSTOP); err != nil {
		r.Fatal(err)
	}
	time.Sleep(r.outage())
	if err := r.server.Process.Signal(syscall.SIGCONT); err != nil {
		r.Fatal(err)
	}
}

// smallStore puts the store on a small disk, which has room for a bounded number
// of tasks only.
func smallStore(r *round) {
	r.tasks = floodTasks
	r.store = filepath.Join(smallDisk(r.T, 500, ""), "store")
	r.session = filepath.Join(r.store, "flood")
}

// The shadow's disk is full and has space again.
func diskFull(r *round) {
	free := fill(r.T, filepath.Dir(r.store))
	time.Sleep(r.random(200*time.Millisecond, 2*time.Second))
	free()
}

// The bus goes and comes back only after the JVM's end.
func endsWithoutBus(r *round) {
	r.proxy.set(func() { r.proxy.to = "127.0.0.1:1" })
	r.proxy.cut()
}

// smallBus is a server of its own, of which the stream holds 1 MiB.
func smallBus(r *round) {
	r.cluster = testnats.Start(r.T, testnats.Options{Nodes: 1})
	r.cluster.Ready(r.T)
	r.busFlags = []string{"--bus-size", "1"}
}

// Nobody takes batches off the bus for a while; it refuses more.
func shadowAway(r *round) {
	r.server.kill(r.T)
	time.Sleep(r.outage())
	r.serve()
}

func threeNodes(r *round) {
	r.cluster = testnats.Start(r.T, testnats.Options{Nodes: 3})
	r.cluster.Ready(r.T)
}

// A node of the cluster dies, which may be the one that the agent or the shadow is
// connected to, and comes back.
func nodeKilled(r *round) { r.killNode(r.cluster.Nodes[r.rng.IntN(3)]) }

// The node that leads the stream dies and comes back.
func leaderKilled(r *round) { r.killNode(r.cluster.Leader(r.T, "STACKAGENT")) }

func (r *round) killNode(n *testnats.Node) {
	n.Kill()
	time.Sleep(r.random(0, 3*time.Second))
	n.Run(r.T)
}

// otherClock puts the JVM where CLOCK_MONOTONIC is another one, as on another host.
func otherClock(r *round) {
	r.wrap = []string{"unshare", "--time", "--monotonic", strconv.Itoa(1 + r.rng.IntN(1_000_000))}
	if err := exec.Command(r.wrap[0], append(r.wrap[1:], "true")...).Run(); err != nil {
		r.Skipf("another clock needs a time namespace (root, unshare): %v", err)
	}
}

func nothing(*round) {}

// mayStepClock guards against stepping the clock of a machine that others use.
func mayStepClock(r *round) {
	if os.Getenv(stepClock) == "" {
		r.Skipf("steps the wall clock of the whole machine for a moment: only where %s is set", stepClock)
	}
}

// The wall clock jumps by up to an hour, and back.
func clockStepped(r *round) {
	for range 2 {
		by := r.random(-time.Hour, time.Hour)
		before, began := time.Now(), time.Now()
		step := func(to time.Time) {
			ts := unix.NsecToTimespec(to.UnixNano())
			if err := unix.ClockSettime(unix.CLOCK_REALTIME, &ts); err != nil {
				r.Skipf("stepping the clock: %v", err)
			}
		}
		step(before.Add(by))
		time.Sleep(r.random(50*time.Millisecond, 400*time.Millisecond))
		step(before.Add(time.Since(began)))
	}
}

// Batches that wait for longer than the bus keeps them are dropped by it: they
// are counted as lost, with the reason, and the account stays exact.
func TestFaultEvicted(t *testing.T) {
	testjvm.Shared(t)
	eachRound(t, 1, func(r *round) {
		r.untilStopped(2*floodTasks, 6*time.Second)
		r.detail = "all"
		r.cluster = testnats.Start(r.T, testnats.Options{Nodes: 1})
		r.cluster.Ready(r.T)
		r.busFlags = []string{"--bus-age", "1s"}
		r.begin()
		waitStored(r.T, r.session) // also what the classes are, which comes once
		r.server.kill(r.T)
		time.Sleep(3 * time.Second)
		r.serve()
		r.stopFlood()
		r.finish()
		m := readStoreManifest(r.T, r.session)
		if m.Lost.Batches == 0 || m.Lost.InGaps == 0 {
			r.Errorf("nothing was dropped by the bus: %+v", m.Lost)
		}
		e := shadow(r.T, "stats", r.session)
		if !strings.Contains(e.out, "batches that never arrived: ") {
			r.Errorf("stats do not say why events are lost:\n%s", e.out)
		}
	})
}

// The JVM is killed: what is in the session is true, and it is closed.
func TestFaultLoopJVMKilled(t *testing.T) {
	testjvm.Shared(t)
	eachRound(t, rounds(t), func(r *round) {
		r.session = filepath.Join(r.base, "session")
		if r.tasks > 0 {
			r.untilStopped(r.tasks, floodMillis*time.Millisecond)
		} else {
			r.millis = floodForever
		}
		line := []string{testjvm.Shadow(r.T), "run", "-o", r.session, "--detail", r.detail, "--"}
		r.java = start(r.T, r.env(), append(line, r.program()...)...)
		pid := r.readPID()
		r.waitRandom()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			r.Fatal(err)
		}
		if out, exit := r.java.end(r.T); exit != 137 || strings.Contains(out, "done") {
			r.Errorf("exit %d, stdout %q\n%s", exit, out, r.java.stderr.String())
		}
		a := readAccount(r.T, r.session, false)
		a.check(r.T, readCounts(r.T, r.counts()), false)
		if a.manifest.Ended != "lost contact" {
			r.Errorf("ended %q", a.manifest.Ended)
		}
		if a.rows.Sum() > 0 {
			testjvm.Profile{Dir: r.session}.Stats(r.T)
		}
		r.Logf("%v, detail=%s, %d tasks: %v", r.jdk, r.detail, r.tasks, a)
	})
}
