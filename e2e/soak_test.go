package e2e_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"stackagent/internal/testjvm"
)

// soakLength is the duration in the environment variable; without it the test is skipped.
func soakLength(t *testing.T, variable string) time.Duration {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		t.Skipf("runs only where %s says how long", variable)
	}
	length, err := time.ParseDuration(text)
	if err != nil || length < time.Minute {
		t.Fatalf("%s=%s: want a duration from 1m (%v)", variable, text, err)
	}
	return length
}

const (
	soakRate   = 600_000 // tasks a second of each of three threads
	soakSample = time.Second
	soakGrowth = 1.10    // of the mean of the last third over that of the second
	soakSlack  = 8 << 20 // bytes that are no growth
	soakAgent  = 640 << 20
	soakShadow = 768 << 20
)

// TestSoak runs one JVM for STACKAGENT_SOAK (make soak SOAK=30m) at more than a
// million tasks a second, with detail=STACKAGENT_SOAK_DETAIL (default auto): the
// memory of both processes stays flat after the first third, and in the end every
// task is accounted for.
func TestSoak(t *testing.T) {
	testjvm.Alone(t, "it measures a rate")
	length := soakLength(t, "STACKAGENT_SOAK")
	jdks := testjvm.JDKs(t)
	r := &round{T: t, rng: rand.New(rand.NewPCG(1, 1)), jdk: jdks[len(jdks)-1], detail: os.Getenv("STACKAGENT_SOAK_DETAIL"),
		tasks: soakRate * int(length.Seconds()), millis: int(length.Milliseconds())}
	if r.detail == "" {
		r.detail = "auto"
	}
	r.folders()
	// A heap of one size, touched at once: what grows is the agent's.
	r.vm = []string{"-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC"}
	r.begin()
	agent, shadow := r.sampleMemory(length - 2*soakSample)
	out, exit := r.java.end(t)
	if exit != 0 || out != "done\n" {
		t.Fatalf("exit %d, stdout %q\n%s", exit, out, r.java.stderr.String())
	}
	waitEnded(t, r.session)
	r.server.stop(t)
	flat(t, "JVM with agent", agent, soakAgent)
	flat(t, "shadow", shadow, soakShadow)
	r.soakAccount(length)
	r.nothingLeft()
}

// soakAccount checks the account as the session gives it: rows are too many to
// be read one by one here.
func (r *round) soakAccount(length time.Duration) {
	a := account{manifest: readStoreManifest(r.T, r.session)}
	a.rows = a.manifest.Stored
	a.exact(r.T)
	program, tasks := readCounts(r.T, r.counts()), uint64(0)
	for _, n := range program {
		tasks += n[1]
	}
	rate := float64(tasks) / length.Seconds()
	r.Logf("%d tasks, %.0f a second, detail=%s; produced %+v, stored %+v, lost %+v", tasks, rate, r.detail, a.manifest.Produced, a.manifest.Stored, a.manifest.Lost)
	if rate < 1e6 {
		r.Errorf("only %.0f tasks a second: no soak", rate)
	}
	rows := map[string]testjvm.Row{}
	for _, row := range (testjvm.Profile{Dir: r.session}).Hotspots(r.T) {
		rows[row.Class] = row
	}
	missing := uint64(0)
	for class, n := range program {
		row := rows[class]
		if row.Executions > int64(n[1]) || row.Created > int64(n[0]) {
			r.Errorf("%s: %d created, %d executed of %v", class, row.Created, row.Executions, n)
		}
		missing += n[0] - uint64(row.Created) + n[1] - uint64(row.Executions)
	}
	if missing > a.manifest.Lost.Events {
		r.Errorf("%d events missing, %d counted as lost", missing, a.manifest.Lost.Events)
	}
}

// sampleMemory samples the resident memory of both processes.
func (r *round) sampleMemory(length time.Duration) (agent, shadow []float64) {
	for end := time.Now().Add(length); time.Now().Before(end); time.Sleep(soakSample) {
		agent = append(agent, resident(r.T, r.java.Process.Pid))
		shadow = append(shadow, resident(r.T, r.server.Process.Pid))
		if n := len(agent); n%60 == 0 {
			r.Logf("%4d s: JVM %.0f MiB, shadow %.0f MiB", n, agent[n-1]/(1<<20), shadow[n-1]/(1<<20))
		}
	}
	return agent, shadow
}

// resident is VmRSS of a process, bytes.
func resident(t *testing.T, pid int) float64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatalf("the process has ended early: %v", err)
	}
	_, rest, _ := bytes.Cut(b, []byte("VmRSS:"))
	var kib float64
	if _, err := fmt.Sscan(string(rest), &kib); err != nil {
		t.Fatalf("VmRSS of %d: %v", pid, err)
	}
	return kib * 1024
}

// flat checks that memory does not grow after its first third and stays below a limit.
func flat(t *testing.T, what string, samples []float64, limit float64) {
	t.Helper()
	if len(samples) < 30 {
		t.Fatalf("%s: only %d samples", what, len(samples))
	}
	second, last, grows := growth(samples)
	most := slices.Max(samples)
	t.Logf("%s: %.0f MiB in the second third, %.0f MiB in the last, %.0f MiB at most", what, second/(1<<20), last/(1<<20), most/(1<<20))
	if grows {
		t.Errorf("%s grows from %.0f to %.0f MiB", what, second/(1<<20), last/(1<<20))
	}
	if most > limit {
		t.Errorf("%s has %.0f MiB, more than %.0f", what, most/(1<<20), limit/(1<<20))
	}
}

// growth compares the means of the second and the last third.
func growth(samples []float64) (second, last float64, grows bool) {
	third := len(samples) / 3
	second, last = mean(samples[third:2*third]), mean(samples[2*third:])
	return second, last, last > second*soakGrowth+soakSlack
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

func TestGrowth(t *testing.T) {
	testjvm.Shared(t)
	for name, c := range map[string]struct {
		f    func(int) float64
		want bool
	}{
		"steady": {func(i int) float64 { return 100<<20 + float64(i%7)*(1<<20) }, false},
		"leak":   {func(i int) float64 { return 100<<20 + float64(i)*(1<<18) }, true},
	} {
		samples := make([]float64, 300)
		for i := range samples {
			samples[i] = c.f(i)
		}
		if _, _, got := growth(samples); got != c.want {
			t.Errorf("%s: grows %v", name, got)
		}
	}
}
