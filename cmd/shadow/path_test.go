package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestWhatifOfSummaries: of com.acme.Job 1,000 executions are in summaries, beside five that are recorded.
func TestWhatifOfSummaries(t *testing.T) {
	dir := makeSummarised(t, t.TempDir())
	for _, change := range []string{"--faster", "--split"} {
		code, out, errs := shadow(t, nil, "whatif", dir, change, "com.acme.Job=2")
		if code != 0 || !strings.HasPrefix(out, "cannot tell: 1,000 executions of com.acme.Job ") {
			t.Errorf("%s: exit %d, %q, %s", change, code, out, errs)
		}
	}
}

func TestPathUsage(t *testing.T) {
	dir := recorded(t)
	for _, args := range [][]string{
		{"path"}, {"path", dir, "--by", "colour"}, {"path", dir, "--from", "2s", "--to", "1s"}, {"path", dir, "--format", "xml"},
		{"whatif", dir}, {"whatif", dir, "--cpus", "-1"}, {"whatif", dir, "--faster", "Nothing=2"}, {"whatif", dir, "--faster", "main#1"},
		{"whatif", dir, "--faster", "main#1=x"}, {"whatif", dir, "--split", "main#1=1.5"}, {"whatif", dir, "--pool", "nothing=2"}, {"whatif", dir, "--free", "main"},
	} {
		if code, out, errs := shadow(t, nil, args...); code != 2 || out != "" || errs == "" {
			t.Errorf("%v: exit %d, %q, %q", args, code, out, errs)
		}
	}
	if code, _, errs := shadow(t, nil, "path", dir, "--unit", "Nothing"); code != 1 || !strings.Contains(errs, "Nothing") {
		t.Errorf("a class without units: exit %d, %s", code, errs)
	}
	if code, _, errs := shadow(t, nil, "whatif", dir, "--faster", "main#1=-1"); code != 1 || !strings.Contains(errs, "above 0") {
		t.Errorf("slower than never: exit %d, %s", code, errs)
	}
}

// TestPathAddsUp: by whatever the path is summed, it is as long as the run, of which the parts follow each other.
func TestPathAddsUp(t *testing.T) {
	dir := recorded(t)
	var whole int64
	code, out, errs := shadow(t, nil, "whatif", dir, "--cpus", "2", "--format", "json")
	var answer struct {
		RecordedNs int64 `json:"recorded_ns"`
	}
	if err := json.Unmarshal([]byte(out), &answer); code != 0 || err != nil || answer.RecordedNs <= 0 {
		t.Fatalf("exit %d, %s (%v): %s", code, errs, err, out)
	}
	for _, by := range []string{"class", "site", "thread", "kind", "part"} {
		code, out, errs := shadow(t, nil, "path", dir, "--by", by, "--format", "json")
		var rows []struct {
			Ns   int64 `json:"path_ns"`
			From int64 `json:"from_ns"`
			To   int64 `json:"to_ns"`
		}
		if err := json.Unmarshal([]byte(out), &rows); code != 0 || err != nil {
			t.Fatalf("exit %d, %s (%v)", code, errs, err)
		}
		sum := int64(0)
		for i, r := range rows {
			sum += r.Ns
			if by == "part" && (r.To-r.From != r.Ns || i > 0 && r.From != rows[i-1].To) {
				t.Errorf("part %d: %+v after %+v", i, r, rows[max(i-1, 0)])
			}
		}
		if whole = answer.RecordedNs; sum != whole {
			t.Errorf("by %s: %d ns, the run took %d ns", by, sum, whole)
		}
	}
}

func TestPathWithoutRecord(t *testing.T) {
	code, out, errs := shadow(t, nil, "path", makeSession(t, t.TempDir()))
	if code != 0 || out == "" || !strings.Contains(errs, "waits not known") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}
