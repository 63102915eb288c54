package e2e_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"stackagent/internal/testjvm"
)

// gcPause is a pause in the log of -Xlog:gc: "GC(3) Pause Young (Normal) (G1 Evacuation Pause) 40M->9M(64M) 3.123ms".
var gcPause = regexp.MustCompile(`(?m)Pause .* ([0-9.]+)ms$`)

// TestCharacterize compares statistics with what the program and the JVM say themselves: bytes allocated in tasks, number
// and length of pauses.
func TestCharacterize(t *testing.T) {
	testjvm.Shared(t)
	const threads, tasks = 2, 4000
	jdk := testjvm.JDKs(t)[0]
	dir := t.TempDir()
	file, log := filepath.Join(dir, "own"), filepath.Join(dir, "gc.log")
	cmd := testjvm.Example(t, "alloc").Command(t, jdk)
	cmd.Args = []string{strconv.Itoa(threads), strconv.Itoa(tasks), file}
	cmd.VM = append(cmd.VM, "-Xmx64m", "-Xlog:gc:file="+log)
	cmd.Agent = []string{"--metric", "wall+cpu+alloc"}
	p := cmd.Profile(t)

	var set struct {
		Statistics []struct {
			Code     string
			Programs map[string]struct{ Value *float64 }
		}
	}
	if err := json.Unmarshal(p.Shadow(t, "characterize", "--format", "json", "alloc="+p.Dir), &set); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, s := range set.Statistics {
		if v := s.Programs["alloc"].Value; v != nil {
			got[s.Code] = *v
		}
	}
	seconds := float64(p.Stats(t).DurationNs) / 1e9

	own := 0.0
	for _, a := range ownAllocations(t, file) {
		own += float64(a.total)
	}
	// Beside these tasks, the JVM's and the program's own threads allocate little (and virtual threads 2 MB each).
	if bytes := got["ARA"] * 1e6 * seconds; bytes < own || bytes > own+0.1*own {
		t.Errorf("ARA: %.0f bytes in %.3f s, the tasks counted %.0f", bytes, seconds, own)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	pauses, sum, longest := gcPause.FindAllSubmatch(text, -1), 0.0, 0.0
	for _, m := range pauses {
		ms, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += ms
		longest = max(longest, ms)
	}
	if len(pauses) < 5 || got["GCC"] != float64(len(pauses)) {
		t.Errorf("GCC is %v, the JVM's log has %d pauses", got["GCC"], len(pauses))
	}
	// The log's time begins and ends some microseconds apart from the events.
	if ms := got["GCP"] / 100 * seconds * 1e3; math.Abs(ms-sum) > 0.1*sum+0.2*float64(len(pauses)) {
		t.Errorf("GCP is %.1f %%, %.2f ms; the log has %.2f ms", got["GCP"], ms, sum)
	}
	if math.Abs(got["GPX"]-longest) > 0.1*longest+1 {
		t.Errorf("GPX is %.2f ms, the log has %.2f ms", got["GPX"], longest)
	}
	t.Logf("ARA %.0f MB/s, tasks %.0f MB/s; %d pauses, %.2f ms; longest %.2f and %.2f ms", got["ARA"], own/1e6/seconds, len(pauses), sum, got["GPX"], longest)
}
