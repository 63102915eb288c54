package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stackagent/internal/text"
)

type ofSession struct {
	Session string `json:"session,omitempty" jsonschema:"name of the session, as the tool sessions lists it"`
	paging
}

type hotspotsIn struct {
	ofSession
	By   string `json:"by,omitempty" jsonschema:"what a row stands for; class by default"`
	Sort string `json:"sort,omitempty" jsonschema:"greatest first by this; work by default"`
}

type waitsIn struct {
	ofSession
	By string `json:"by,omitempty" jsonschema:"what a row stands for; class by default: what was waited for"`
}

type diffIn struct {
	A  []string `json:"a" jsonschema:"names of the sessions of the one side: repeated runs of one build"`
	B  []string `json:"b" jsonschema:"names of the sessions of the other side"`
	By string   `json:"by,omitempty" jsonschema:"what a row stands for; class by default"`
	paging
}

type explainIn struct {
	ofSession
	Metric string `json:"metric,omitempty" jsonschema:"METRIC or METRIC@FROM..TO, with times since the start such as 2s; task_throughput by default"`
}

func words(list ...string) (out []any) {
	for _, w := range list {
		out = append(out, w)
	}
	return out
}

func (h *handler) addTools(s *mcp.Server) {
	add(s, "sessions", "The sessions of the store, the newest first, with program, duration and labels.", nil,
		func(ctx context.Context, in paging) (*mcp.CallToolResult, any, error) {
			if h.only != "" {
				in = paging{Limit: mostRows} // it is among the others of its folder
			}
			result, out, err := h.ask(ctx, in, "sessions", "ls", h.store)
			if a, ok := out.(*answer); ok {
				h.named(a)
			}
			return result, out, err
		})
	add(s, "stats", "The summary of a session: tasks, threads, collections, what was lost, distributions of times.", nil,
		func(ctx context.Context, in ofSession) (*mcp.CallToolResult, any, error) {
			return h.of(ctx, in, "stats")
		})
	add(s, "findings", "What limits the program and what to change, with evidence and the predicted gain.", nil,
		func(ctx context.Context, in ofSession) (*mcp.CallToolResult, any, error) {
			in.Field = "findings"
			return h.of(ctx, in, "stats", "--units")
		})
	add(s, "hotspots", "Which tasks hold the work.",
		map[string][]any{"by": words("class", "site", "executor", "thread"), "sort": words("work", "self", "wall", "cpu", "count", "mean", "p99", "max", "never", "threw", "queue")},
		func(ctx context.Context, in hotspotsIn) (*mcp.CallToolResult, any, error) {
			return h.of(ctx, in.ofSession, "hotspots", "--by", cmp.Or(in.By, "class"), "--sort", cmp.Or(in.Sort, "work"))
		})
	add(s, "waits", "What tasks and threads waited for: locks, queues, input and output, CPUs.", map[string][]any{"by": words("class", "site", "unit", "thread", "wait")},
		func(ctx context.Context, in waitsIn) (*mcp.CallToolResult, any, error) {
			return h.of(ctx, in.ofSession, "waits", "--by", cmp.Or(in.By, "class"))
		})
	add(s, "diff", "Compares two builds; with two or more runs on each side it says what is different.", map[string][]any{"by": words("class", "executor", "site", "thread", "wait", "path", "all")}, h.diff)
	add(s, "explain", "What changed with the throughput, or with another metric, ranked. The session needs monitors.", nil,
		func(ctx context.Context, in explainIn) (*mcp.CallToolResult, any, error) {
			return h.of(ctx, in.ofSession, "vertical", "--explain="+cmp.Or(in.Metric, "task_throughput"))
		})
}

// add adds a tool that reads only.
func add[In any](s *mcp.Server, name, what string, enums map[string][]any, f func(context.Context, In) (*mcp.CallToolResult, any, error)) {
	no := false
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: what + " " + strings.TrimSpace(unitsText), InputSchema: schemaOf[In](enums),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}},
		func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			return f(ctx, in)
		})
}

// of asks about one session.
func (h *handler) of(ctx context.Context, in ofSession, args ...string) (*mcp.CallToolResult, any, error) {
	dir, err := h.folder(in.Session)
	if err != nil {
		return nil, nil, err
	}
	return h.ask(ctx, in.paging, append([]string{args[0], dir}, args[1:]...)...)
}

func (h *handler) diff(ctx context.Context, in diffIn) (*mcp.CallToolResult, any, error) {
	const most = 32
	if len(in.A) == 0 || len(in.B) == 0 || len(in.A)+len(in.B) > most {
		return nil, nil, h.hidden("name 1 to 16 sessions for each side")
	}
	args := []string{"diff", "--by", cmp.Or(in.By, "class"), "--format", "json"}
	for i, side := range [][]string{in.A, in.B} {
		if i == 1 {
			args = append(args, "--")
		}
		for _, name := range side {
			dir, err := h.folder(name)
			if err != nil {
				return nil, nil, err
			}
			args = append(args, dir)
		}
	}
	out, notes, err := h.verb(ctx, args...)
	if err != nil {
		return nil, nil, h.hidden(err.Error())
	}
	p := in.paging
	p.Field = cmp.Or(p.Field, "rows")
	a, err := cut([]byte(out), p)
	if err != nil {
		return nil, nil, err
	}
	if p.Field == "rows" { // the head beside them
		var d map[string]json.RawMessage
		if json.Unmarshal([]byte(out), &d) == nil {
			delete(d, "rows")
			a.Fields = d
		}
	}
	a.Notes = text.Cut(h.clean(notes), 2000)
	return nil, a, nil
}

// named gives the rows of the list of sessions the names by which the other tools know them.
func (h *handler) named(a *answer) {
	for i, r := range a.Rows {
		var row map[string]json.RawMessage
		var folder string
		if json.Unmarshal(r, &row) != nil || json.Unmarshal(row["folder"], &folder) != nil {
			continue
		}
		row["folder"], _ = json.Marshal(strings.TrimPrefix(folder, h.store+"/"))
		a.Rows[i], _ = json.Marshal(row)
	}
	if h.only != "" {
		a.Rows = slices.DeleteFunc(a.Rows, func(r json.RawMessage) bool {
			var row struct{ Folder string }
			return json.Unmarshal(r, &row) != nil || row.Folder != h.only
		})
		a.Total, a.More = len(a.Rows), ""
	}
}

// byLength orders fields by the room that they need.
func byLength(fields map[string]json.RawMessage) []string {
	return slices.SortedFunc(maps.Keys(fields), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(fields[a]), len(fields[b])), cmp.Compare(a, b))
	})
}
