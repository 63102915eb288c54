package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
)

// mcpAtMost is what the documentation says of an answer.
const mcpAtMost = 48 << 10

// TestMCPLayouts: sessions have the names of their paths in the store, and one session stays alone among many.
func TestMCPLayouts(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "before"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(makeSession(t, root), filepath.Join(root, "before", "run-1")); err != nil {
		t.Fatal(err)
	}
	for i := range 210 { // later ones, and more than an answer has rows
		began(t, filepath.Join(root, fmt.Sprint("later", i)), time.Now().Add(time.Duration(i)*time.Hour))
	}
	if err := os.Symlink("before", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	store := mcpClient(t, root)
	a, text, failed := askTool(t, store, "sessions", map[string]any{"offset": 200})
	if failed || a.Total != 211 || len(a.Rows) != 11 || a.Rows[10]["folder"] != "before/run-1" {
		t.Errorf("sessions: %s", text)
	}
	if _, text, failed = askTool(t, store, "hotspots", map[string]any{"session": "before/run-1"}); failed {
		t.Errorf("a run by its path: %s", text)
	}
	for _, name := range []string{"link/run-1", "before/../before/run-1", "before/", "/before/run-1", "before//run-1"} {
		if _, text, failed := askTool(t, store, "hotspots", map[string]any{"session": name}); !failed {
			t.Errorf("%q is taken: %s", name, text)
		}
	}
	if a, text, failed = askTool(t, store, "stats", nil); failed || a.Notes != "session later209, the newest of 211" {
		t.Errorf("without a name: %q: %s", a.Notes, text)
	}
	if a, text, failed = askTool(t, store, "diff", map[string]any{"a": []string{"before"}, "b": []string{"before/run-1"}, "limit": 1}); failed || len(a.Rows) != 1 {
		t.Errorf("a folder of runs: %s", text)
	}
	if a, text, failed := askTool(t, mcpClient(t, filepath.Join(root, "link")), "sessions", nil); failed || a.Total != 1 || a.Rows[0]["folder"] != "run-1" {
		t.Errorf("a store behind a link: %s", text)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	if err := os.Symlink(filepath.Join(root, "before", "run-1"), linked); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(root, "before", "run-1"), filepath.Join(root, "later7"), linked} {
		if _, text, failed := askTool(t, mcpClient(t, dir), "stats", nil); failed {
			t.Errorf("only %s: %s", dir, text)
		}
		a, text, failed := askTool(t, mcpClient(t, dir), "sessions", nil)
		if failed || a.Total != 1 || len(a.Rows) != 1 || a.Rows[0]["folder"] != filepath.Base(dir) {
			t.Errorf("only %s: %s", dir, text)
		}
	}
}

// TestMCPBounded: no answer of a session with many long names is longer than promised, as it is sent; pages have
// all rows, and fields that had no room can be had.
func TestMCPBounded(t *testing.T) {
	var names []string
	for i := range 90 {
		names = append(names, fmt.Sprintf("com.acme.%d<\"\\&>%s", i, strings.Repeat(`"`, 120)))
	}
	root := t.TempDir()
	dir := hostileSession(t, root, names)
	in, write := io.Pipe()
	read, w := io.Pipe()
	env := console.Env{In: in, Out: w, Err: io.Discard, Environ: os.Environ(), Now: time.Now}
	done := make(chan int)
	go func() { done <- Run(context.Background(), []string{"mcp", root}, env); w.Close() }()
	lines := bufio.NewReader(read)
	id := 0
	exchange := func(method string, params any) string {
		t.Helper()
		id++
		b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := write.Write(append(b, '\n')); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	exchange("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}})
	call := func(tool string, args map[string]any) (a mcpAnswer) {
		t.Helper()
		line := exchange("tools/call", map[string]any{"name": tool, "arguments": args})
		var r struct {
			Result struct {
				Content []struct{ Text string }
				IsError bool
			}
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || len(r.Result.Content) != 1 {
			t.Fatalf("%s: %v: %.500s", tool, err, line)
		}
		if len(line) > mcpAtMost {
			t.Errorf("%s %v: %d bytes, at most %d are promised", tool, args, len(line), mcpAtMost)
		}
		if !r.Result.IsError {
			if err := json.Unmarshal([]byte(r.Result.Content[0].Text), &a); err != nil && tool != "stats" { // which has a list of strings
				t.Errorf("%s: %v", tool, err)
			}
		}
		return a
	}
	name := filepath.Base(dir)
	for _, tool := range []string{"sessions", "stats", "findings", "hotspots", "waits", "explain"} {
		args := map[string]any{"limit": 200}
		call(tool, args)
		if tool != "sessions" {
			args["session"] = name
			call(tool, args)
		}
	}
	call("diff", map[string]any{"a": []string{name}, "b": []string{name}, "limit": 200})
	seen, total := map[string]bool{}, 1
	for offset := 0; offset < total; {
		a := call("hotspots", map[string]any{"session": name, "limit": 200, "offset": offset})
		for _, r := range a.Rows {
			seen[r["class"].(string)] = true
		}
		if total = a.Total; len(a.Rows) == 0 {
			t.Fatalf("no row at %d of %d", offset, total)
		}
		offset += len(a.Rows)
	}
	if len(seen) != len(names) {
		t.Errorf("pages have %d classes, want %d", len(seen), len(names))
	}
	a := call("stats", map[string]any{"session": name})
	if len(a.LeftOut) == 0 {
		t.Fatal("everything fits: the test is too small")
	}
	for _, field := range a.LeftOut {
		part := call("stats", map[string]any{"session": name, "field": field})
		if len(part.Fields) == 0 && len(part.Rows) == 0 && part.More != "the field is larger than an answer" {
			t.Errorf("%s cannot be had: %v", field, part)
		}
	}
	write.Close()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
