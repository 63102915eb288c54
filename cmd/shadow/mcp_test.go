package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/layers"
	"stackagent/cmd/shadow/internal/mcpserver"
	"stackagent/shadow/store/storetest"
)

// mcpClient is the SDK's own client, connected to a server of dir.
func mcpClient(t *testing.T, dir string) *mcp.ClientSession {
	t.Helper()
	env := console.Env{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Environ: os.Environ(), Now: time.Now}
	s, err := mcpserver.New(dir, "test", env, toolVerbs)
	if err != nil {
		t.Fatal(err)
	}
	here, there := mcp.NewInMemoryTransports()
	server, err := s.Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); _ = server.Wait() })
	return c
}

type mcpAnswer struct {
	Rows    []map[string]any
	Fields  map[string]any
	Total   int
	More    string
	Notes   string
	LeftOut []string `json:"left_out"`
}

// askTool calls a tool; text is what it printed or why it failed.
func askTool(t *testing.T, c *mcp.ClientSession, tool string, args map[string]any) (a mcpAnswer, text string, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return a, err.Error(), true
	}
	for _, x := range r.Content {
		text += x.(*mcp.TextContent).Text
	}
	if !r.IsError {
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatalf("%s: %v in %s", tool, err, text)
		}
	}
	return a, text, r.IsError
}

// TestMCP: each tool answers, with the figures that the session is known to have.
func TestMCP(t *testing.T) {
	root := t.TempDir()
	name := filepath.Base(makeSession(t, root))
	c := mcpClient(t, root)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is not said to read only", tool.Name)
		}
	}
	slices.Sort(names)
	if want := "diff explain findings hotspots sessions stats waits why"; strings.Join(names, " ") != want {
		t.Errorf("tools: %v", names)
	}
	a, text, failed := askTool(t, c, "sessions", nil)
	if failed || len(a.Rows) != 1 || a.Rows[0]["folder"] != name || strings.Contains(text, root) {
		t.Fatalf("sessions: %s", text)
	}
	_, out, _ := shadow(t, nil, "stats", filepath.Join(root, name), "--format", "json")
	var want map[string]any
	if err := json.Unmarshal([]byte(out), &want); err != nil {
		t.Fatal(err)
	}
	a, text, failed = askTool(t, c, "stats", map[string]any{"session": name, "field": "tasks"})
	if got, _ := a.Fields["tasks"].(map[string]any); failed || !maps.Equal(flat(got), flat(want["tasks"].(map[string]any))) {
		t.Errorf("stats: %s", text)
	}
	_, out, _ = shadow(t, nil, "why", filepath.Join(root, name), "--format", "json")
	if err := json.Unmarshal([]byte(out), &want); err != nil {
		t.Fatal(err)
	}
	a, text, failed = askTool(t, c, "why", map[string]any{"session": name})
	if failed || len(want["classes"].([]any)) == 0 || !reflect.DeepEqual(a.Fields["bound"], want["bound"]) || !reflect.DeepEqual(a.Fields["classes"], want["classes"]) {
		t.Errorf("why: %s, want %s", text, out)
	}
	for _, c := range []struct {
		args map[string]any
		want string
	}{{map[string]any{"from": "1h"}, "nothing was recorded in this time"}, {map[string]any{"to": "soon"}, "want a time since the start"}, {map[string]any{"class": "["}, "syntax error"}} {
		if _, text, failed := askTool(t, mcpClient(t, root), "why", c.args); !failed || !strings.Contains(text, c.want) {
			t.Errorf("why %v: %s, want %s", c.args, text, c.want)
		}
	}
	a, text, failed = askTool(t, c, "hotspots", map[string]any{"session": name, "limit": 1, "sort": "count"})
	if failed || len(a.Rows) != 1 || a.Total < 2 || !strings.Contains(a.More, "offset 1 continues") {
		t.Errorf("hotspots: %s", text)
	}
	first := a.Rows
	a, text, failed = askTool(t, c, "hotspots", map[string]any{"session": name, "limit": 1, "sort": "count", "offset": 1})
	if failed || len(a.Rows) != 1 || a.Rows[0]["class"] == first[0]["class"] {
		t.Errorf("the next page: %s", text)
	}
	for tool, args := range map[string]map[string]any{"findings": {"session": name}, "diff": {"a": []string{name}, "b": []string{name}}} {
		if _, text, failed := askTool(t, c, tool, args); failed {
			t.Errorf("%s: %s", tool, text)
		}
	}
	// The metric that it takes by itself exists; this session is too short to explain anything by it.
	_, text, failed = askTool(t, c, "explain", map[string]any{"session": name})
	_, same, sameFailed := askTool(t, c, "explain", map[string]any{"session": name, "metric": layers.DefaultTarget})
	if text != same || failed != sameFailed || strings.Contains(text, "unknown") || !failed && !strings.Contains(text, "sentence") {
		t.Errorf("explain: %s; with its metric named: %s", text, same)
	}
}

func flat(m map[string]any) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		b, _ := json.Marshal(v)
		out[k] = string(b)
	}
	return out
}

// TestMCPStaysInside: no name leads out of the store, no answer names a path of this machine, and words that are not
// offered are refused.
func TestMCPStaysInside(t *testing.T) {
	outer := t.TempDir()
	root := filepath.Join(outer, "store")
	outside := makeSession(t, outer)
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	c := mcpClient(t, root)
	for _, name := range []string{"link", "../" + filepath.Base(outside), outside, "..", ".", "", "a\x00b", "last", "--help", `..\s`} {
		if _, text, failed := askTool(t, c, "stats", map[string]any{"session": name}); !failed || strings.Contains(text, outer) {
			t.Errorf("%q: %s", name, text)
		}
	}
	one := mcpClient(t, outside)
	for _, args := range []map[string]any{{"by": "path"}, {"sort": "-o"}, {"limit": -1}, {"limit": 1 << 20}, {"output": "x"}} {
		if _, text, failed := askTool(t, one, "hotspots", args); !failed {
			t.Errorf("%v is taken: %s", args, text)
		}
	}
	if _, text, failed := askTool(t, one, "hotspots", nil); failed {
		t.Errorf("the only session: %s", text)
	}
	if a, text, failed := askTool(t, one, "sessions", nil); failed || len(a.Rows) != 1 || a.Rows[0]["folder"] != filepath.Base(outside) {
		t.Errorf("sessions: %s", text)
	}
}

// TestMCPHostile: answers about a session with hostile names are clean and bounded.
func TestMCPHostile(t *testing.T) {
	root := t.TempDir()
	dir := hostileSession(t, root, slices.Sorted(maps.Values(storetest.Attacks)))
	c := mcpClient(t, dir)
	for _, tool := range []string{"sessions", "stats", "findings", "hotspots"} {
		_, text, failed := askTool(t, c, tool, nil)
		if printed(t, "mcp "+tool, text); failed || len(text) > mcpAtMost {
			t.Errorf("%s: %d bytes: %.300s", tool, len(text), text)
		}
	}
}

// TestMCPTranscript speaks the protocol with the verb itself, line by line.
func TestMCPTranscript(t *testing.T) {
	root := t.TempDir()
	makeSession(t, root)
	in, write := io.Pipe()
	var out bytes.Buffer
	read, w := io.Pipe()
	env := console.Env{In: in, Out: w, Err: io.Discard, Environ: os.Environ(), Now: time.Now}
	done := make(chan int)
	go func() { done <- Run(context.Background(), []string{"mcp", root}, env); w.Close() }()
	lines := json.NewDecoder(io.TeeReader(read, &out))
	for _, x := range []struct{ send, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, `"name":"shadow"`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sessions","arguments":{}}}`, `\"total\":1`},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"rm","arguments":{}}}`, `"error"`},
	} {
		if _, err := io.WriteString(write, x.send+"\n"); err != nil {
			t.Fatal(err)
		}
		if x.want == "" {
			continue
		}
		var got json.RawMessage
		if err := lines.Decode(&got); err != nil || !strings.Contains(string(got), x.want) {
			t.Errorf("%s: %v: %s", x.send, err, got)
		}
	}
	write.Close()
	go func() { _, _ = io.Copy(io.Discard, read) }()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestMCPErrorsToFollow: an error of a tool names sessions as the tools take them, and no flag that they do not have.
func TestMCPErrorsToFollow(t *testing.T) {
	root := t.TempDir()
	first := makeSession(t, filepath.Join(root, "before", "run-1"))
	second := makeSession(t, filepath.Join(root, "before", "run-2"))
	group := filepath.Join(root, "before")
	for i, dir := range []string{first, second} {
		if err := os.Rename(dir, filepath.Join(group, []string{"a", "b"}[i])); err != nil {
			t.Fatal(err)
		}
	}
	c := mcpClient(t, root)
	_, text, failed := askTool(t, c, "stats", map[string]any{"session": "before"})
	if !failed || !strings.Contains(text, "give one of them: before/a, before/b") {
		t.Errorf("a folder of two sessions: %s", text)
	}
	if _, text, failed := askTool(t, c, "stats", map[string]any{"session": "before/a"}); failed {
		t.Errorf("the name that it gave: %s", text)
	}
	damaged, err := filepath.Glob(filepath.Join(group, "a", "executions-*"))
	if err != nil || len(damaged) == 0 {
		t.Fatal(err, damaged)
	}
	if err := os.WriteFile(damaged[0], []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, text, failed := askTool(t, c, "stats", map[string]any{"session": "before/a"}); !failed || strings.Contains(text, "--damaged") || !strings.Contains(text, "whole sessions only") {
		t.Errorf("a damaged session: %s", text)
	}
}

// TestMCPWrongLines: a line that is no message is answered, and the server goes on.
func TestMCPWrongLines(t *testing.T) {
	in, client := io.Pipe()
	server, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		env := console.Env{In: in, Out: out, Err: io.Discard, Environ: os.Environ(), Now: time.Now}
		ended <- Run(t.Context(), []string{"mcp", t.TempDir()}, env)
	}()
	answers := bufio.NewScanner(server)
	for _, x := range []struct{ line, want string }{
		{"nonsense", `"code":-32700`},
		{"[]", `"code":-32600`},
		{`{"jsonrpc":"1.0","id":1,"method":"initialize"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, `"name":"shadow"`},
		{`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`, `"id":3`},
	} {
		if _, err := io.WriteString(client, x.line+"\n"); err != nil {
			t.Fatalf("%s: %v", x.line, err)
		}
		if !answers.Scan() || !strings.Contains(answers.Text(), x.want) {
			t.Fatalf("%s: %s, want %s", x.line, answers.Text(), x.want)
		}
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != 0 {
		t.Errorf("exit %d", code)
	}
}
