//go:build consumers

package consumers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// python is an interpreter that has a package of PyPI.
func python(t *testing.T, name, version string) string {
	t.Helper()
	venv := filepath.Join(cache(t, "python"), name+"-"+version)
	ready := filepath.Join(venv, "ready")
	if _, err := os.Stat(ready); err != nil {
		t.Logf("fetching %s %s from PyPI into %s", name, version, venv)
		output(t, "python3", "-m", "venv", venv)
		output(t, filepath.Join(venv, "bin", "pip"), "install", "--quiet", name+"=="+version)
		if err := os.WriteFile(ready, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(venv, "bin", "python")
}

// mcpCall is what the client says of a call.
type mcpCall struct {
	Tool      string
	Arguments map[string]any
	Failed    bool
	Bytes     int
	Text      string
}

func (c *mcpCall) rows(t *testing.T) (rows []map[string]any, total int) {
	t.Helper()
	var a struct {
		Rows  []map[string]any
		Total int
	}
	if err := json.Unmarshal([]byte(c.Text), &a); err != nil {
		t.Errorf("%s: %v in %.300s", c.Tool, err, c.Text)
	}
	return a.Rows, a.Total
}

// mcpCalls has Python's SDK call each tool; all must answer within the bounds of an answer.
func mcpCalls(t *testing.T, dir string) map[string]mcpCall {
	t.Helper()
	out := output(t, python(t, "mcp", "2.3.0"), filepath.Join("testdata", "mcp_client.py"), filepath.Join("..", "..", "bin", "shadow"), dir)
	calls, tools, longest := map[string]mcpCall{}, []string{}, 0
	for line := range strings.Lines(out) {
		var c mcpCall
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%v: %.300s", err, line)
		}
		if longest = max(longest, c.Bytes); c.Bytes > 48<<10 {
			t.Errorf("%s %v: %d bytes", c.Tool, c.Arguments, c.Bytes)
		}
		if c.Failed && !(c.Tool == "explain" && strings.Contains(c.Text, "shadow run --monitors")) {
			t.Errorf("%s %v: %s", c.Tool, c.Arguments, c.Text)
		}
		if _, ok := calls[c.Tool]; !ok {
			tools = append(tools, c.Tool)
			calls[c.Tool] = c
		}
		calls[c.Tool+" most"] = c
	}
	if want := "diff explain findings hotspots sessions stats waits"; strings.Join(slices.Sorted(slices.Values(tools)), " ") != want {
		t.Errorf("tools: %v", tools)
	}
	t.Logf("%d calls; the longest answer has %d bytes", len(calls), longest)
	return calls
}

// TestMCPClient: the SDK of another language calls the tools, for a session alone and for a store with many runs.
func TestMCPClient(t *testing.T) {
	each(t, func(t *testing.T, dir string, executions int) {
		calls := mcpCalls(t, dir)
		sessions := calls["sessions"]
		if rows, total := sessions.rows(t); total != 1 || rows[0]["folder"] != filepath.Base(dir) {
			t.Errorf("sessions: %s", sessions.Text)
		}
		var stats struct {
			Fields struct {
				Tasks struct{ Executions, Summarised int } `json:"tasks"`
			} `json:"fields"`
		}
		if err := json.Unmarshal([]byte(calls["stats"].Text), &stats); err != nil {
			t.Fatal(err)
		}
		if n := stats.Fields.Tasks.Executions - stats.Fields.Tasks.Summarised; n != executions {
			t.Errorf("%d executions, want %d", n, executions)
		}
	})
	t.Run("store", func(t *testing.T) {
		const folders = 160
		known, _ := sessions(t)
		root := t.TempDir()
		for i := range folders {
			if err := os.CopyFS(filepath.Join(root, fmt.Sprint("set", i/10), fmt.Sprint("run-", i%10)), os.DirFS(known)); err != nil {
				t.Fatal(err)
			}
		}
		calls := mcpCalls(t, root)
		all := calls["sessions most"]
		first := calls["sessions"]
		rows, total := all.rows(t)
		if few, _ := first.rows(t); total != folders || len(few) != 20 {
			t.Errorf("%d sessions, want %d; %d at first, want 20", total, folders, len(few))
		}
		for _, r := range rows {
			if name, _ := r["folder"].(string); !strings.Contains(name, "/run-") {
				t.Errorf("a session's name is %q", name)
			}
		}
		alone := mcpCalls(t, filepath.Join(root, "set3", "run-7"))["sessions"]
		if rows, total := alone.rows(t); total != 1 || rows[0]["folder"] != "run-7" {
			t.Errorf("one of them: %s", alone.Text)
		}
	})
}
